"""Intended differences from gcloud, each with its reason."""

import json


def _has_non_finite(body):
    text = json.dumps(body)
    return 'Infinity' in text or 'NaN' in text


def explanation(case, gcloud, caip):
    """The reason for an intended difference; None if it is not intended."""
    body = gcloud['body']
    config = case['config'] or ''
    if gcloud['exit'] == 0 and caip['exit'] == 1:
        if _has_non_finite(body):
            return ('infinity and NaN: gcloud sends a body that is not JSON, which the service '
                    'rejects; caip rejects the file')
        if '99999999999999999999' in config:
            return ('integers beyond 64 bits: gcloud sends them, the service rejects them; caip '
                    'rejects the file')
        if 'additionalProperties' in config:
            return 'a label called additionalProperties: gcloud loses it; caip rejects the file'
    if gcloud['exit'] == caip['exit'] == 1 and ('.inf' in config or '.nan' in config):
        return ('infinity and NaN: caip reports them before the other mistakes of the file, gcloud '
                'does not report them')
    if gcloud['exit'] == caip['exit'] == 1 and '99999999999999999999' in config:
        return 'integers beyond 64 bits: caip reads the nearest float, and its error shows that one'
    if '99999999999999999999' in json.dumps(body) and caip['exit'] == 0:
        return ('integers beyond 64 bits under unknown keys: gcloud passes them on, caip passes on '
                'the nearest float; the service rejects the key in any case')
    return None
