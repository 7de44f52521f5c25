#include "emulator/cli/completion/scripts.h"

namespace caip::cli {
namespace {

// Bash divides words at = and :, too. The script puts them together again, and takes away from the
// answers what stands before the part that bash replaces.
constexpr const char* kBashScript =
    R"bash(# Completion of caip for bash. To use it now: eval "$(caip completion bash)"
_caip() {
  local rest=${COMP_LINE:0:COMP_POINT} words=() word blanks i
  for ((i = 0; i <= COMP_CWORD; i++)); do
    blanks=${rest%%[![:space:]]*}
    rest=${rest:${#blanks}}
    word=${COMP_WORDS[i]}
    [[ $i -eq $COMP_CWORD ]] && word=$rest
    rest=${rest#"$word"}
    if [[ $i -gt 0 && -z $blanks ]]; then
      words[${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
  done
  local cur=${words[${#words[@]}-1]} before= unquoted=()
  for word in "${words[@]:1}"; do
    word=${word//\\/}
    [[ $word == [\"\']* ]] && word=${word//[\"\']/}
    unquoted+=("$word")
  done
  [[ $cur != [\"\']* && $cur == *[=:]* ]] && before=${cur%"${cur##*[=:]}"}
  local line value follow=
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) follow=${line#:} ;;
      *)
        value=${line%%$'\t'*}
        COMPREPLY+=("${value#"$before"}")
        ;;
    esac
  done < <("${words[0]/#\~/$HOME}" __complete "${unquoted[@]}" 2>/dev/null)
  local file=${cur#"$before"}
  file=${file#[\"\']}
  case $follow in
    *files*) compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$file") ;;
    *directories*) compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$file") ;;
  esac
  case $follow in *nospace*) compopt -o nospace 2>/dev/null ;; esac
}
complete -F _caip caip
)bash";

constexpr const char* kZshScript =
    R"zsh(#compdef caip
# Completion of caip for zsh. Put it into a folder of $fpath as _caip, or: source caip.zsh
_caip() {
  local line value follow
  local -a values shown given
  given=("${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}")
  for line in "${(@f)$(${words[1]} __complete "${given[@]}" 2>/dev/null)}"; do
    case $line in
      ('') ;;
      (:*) follow=${line#:} ;;
      (*)
        value=${line%%$'\t'*}
        values+=("$value")
        [[ $line == *$'\t'* ]] && shown+=("${(r:24:)value}  ${line#*$'\t'}") || shown+=("$value")
        ;;
    esac
  done
  if (( ${#values} )); then
    if [[ $follow == *nospace* ]]; then
      compadd -l -d shown -S '' -- "${values[@]}"
    else
      compadd -l -d shown -- "${values[@]}"
    fi
  fi
  case $follow in
    (*files*) compset -P '--*='; _files ;;
    (*directories*) compset -P '--*='; _files -/ ;;
  esac
}
if (( ! $+functions[compdef] )); then
  autoload -Uz compinit && compinit
fi
if [[ $funcstack[1] == _caip ]]; then
  _caip "$@"
else
  compdef _caip caip
fi
)zsh";

constexpr const char* kFishScript =
    R"fish(# Completion of caip for fish. To keep it:
#   caip completion fish > ~/.config/fish/completions/caip.fish
function __caip_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l given (string unescape -- $words[2..-1])
    set -l last (string unescape -- $current)
    set -l before (string match -r -- '^--[^=]*=' $current)
    set -l file (string replace -- "$before" '' $current)
    for line in ($words[1] __complete $given "$last" 2>/dev/null)
        switch $line
            case ':*files*'
                printf '%s\n' "$before"(__fish_complete_path "$file")
            case ':*directories*'
                printf '%s\n' "$before"(__fish_complete_directories "$file" '')
            case ':*'
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c caip -f -a '(__caip_complete)'
)fish";

}  // namespace

std::vector<std::string> CompletedShells() { return {"bash", "fish", "zsh"}; }

std::string CompletionScript(const std::string& shell) {
  if (shell == "bash") return kBashScript;
  if (shell == "zsh") return kZshScript;
  return shell == "fish" ? kFishScript : "";
}

}  // namespace caip::cli
