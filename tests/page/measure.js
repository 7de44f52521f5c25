// Measures a page of caip: a list of its faults, in words. An expression, for Runtime.evaluate.
(() => {
  const faults = [];
  const root = document.documentElement;
  const shown = (node) => {
    const texts = [...node.childNodes].filter((child) => child.nodeName !== 'title');
    return texts.map((child) => child.textContent).join('').trim().replace(/\s+/g, ' ').slice(0, 60);
  };
  const all = (selector) => [...document.querySelectorAll(selector)];
  document.querySelectorAll('details').forEach((details) => { details.open = true; });

  if (root.scrollWidth > root.clientWidth) {
    faults.push(`the page is ${root.scrollWidth} px wide in a window of ${root.clientWidth} px`);
  }
  for (const part of all('.scroll')) {
    const share = part.getBoundingClientRect().width / root.clientWidth;
    if (!(share >= 0.9)) faults.push(`${part.ariaLabel} uses ${Math.round(share * 100)} % of the window`);
    const drawn = part.firstElementChild.getBoundingClientRect().width;
    if (drawn + 1 < part.clientWidth) faults.push(`${part.ariaLabel} leaves free space`);
  }

  // A word stands on one line. What every browser breaks counts as words: a text may be broken after a slash and a
  // hyphen, and a long word at its <wbr>, which divide it into text nodes.
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const parent = node.parentElement;
    if (parent.closest('script, style, title, #tip, svg') || !parent.checkVisibility()) continue;
    for (const word of node.data.matchAll(/[^\s/-]+[/-]*|[/-]+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) faults.push(`'${word[0].slice(0, 40)}' is broken into ${lines.size} lines`);
    }
  }

  // Headings, and texts of drawings. The boxes of rotated texts overlap where the texts do not.
  const inside = (text) => text.closest('.drawing') && shown(text) !== '×';
  const names = [...all('h1, h2, summary, thead th, dt'), ...all('svg text').filter(inside)];
  const boxes = names.map((each) => each.getBoundingClientRect());
  for (let i = 0; i !== names.length; ++i) {
    for (let j = i + 1; j !== names.length; ++j) {
      const [a, b] = [boxes[i], boxes[j]];
      if (names[i].hasAttribute('transform') && names[j].hasAttribute('transform')) continue;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 1) faults.push(`'${shown(names[i])}' overlaps '${shown(names[j])}'`);
    }
  }
  for (const text of all('svg text').filter(inside)) {
    const box = text.getBoundingClientRect();
    const part = text.closest('.scroll');
    const area = part.getBoundingClientRect();
    const right = area.left + part.scrollWidth;
    const labels = part.querySelector('.labels');
    if (labels && text.closest('.plot') && box.left + 1 < labels.getBoundingClientRect().right) {
      faults.push(`'${shown(text)}' is covered by the labels`);
    }
    if (box.left + 1 < area.left || box.right - 1 > right || box.top + 1 < area.top || box.bottom - 1 > area.bottom) {
      faults.push(`'${shown(text)}' is cut off`);
    }
  }

  // WCAG 2.1: at least 4.5 for text.
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = channels(colour).map((c) => c / 255)
      .map((c) => (c > 0.03928 ? ((c + 0.055) / 1.055) ** 2.4 : c / 12.92));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const below = (node) => {
    for (let each = node; each; each = each.parentElement) {
      const colour = getComputedStyle(each).backgroundColor;
      if (channels(colour)[3] !== 0) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const seen = new Set();
  for (const node of all('body *')) {
    const own = [...node.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim());
    if (!own || node.closest('script, style, title, #tip') || !node.checkVisibility()) continue;
    const style = getComputedStyle(node);
    const [text, page] = [node.closest('svg') ? style.fill : style.color, below(node)];
    const [a, b] = [light(text), light(page)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const fault = `${text} on ${page} has a contrast of ${contrast.toFixed(2)}`;
    if (!(contrast >= 4.5) && !seen.has(fault)) faults.push(`'${shown(node)}': ${fault}`);
    seen.add(fault);
    if (!(parseFloat(style.fontSize) >= 12)) faults.push(`'${shown(node)}' has letters of ${style.fontSize}`);
  }

  for (const head of all('th:not([scope])')) faults.push(`the heading '${shown(head)}' has no scope`);
  for (const block of all('pre')) {
    const lines = block.textContent.trimEnd().split('\n').length;
    const high = block.getBoundingClientRect().height / parseFloat(getComputedStyle(block).lineHeight);
    if (high + 0.5 < lines) faults.push(`${lines} lines are shown on ${Math.round(high)}`);
  }

  const mark = document.querySelector('[data-tip]');
  if (mark) {
    const tip = document.getElementById('tip');
    mark.dispatchEvent(new PointerEvent('pointerover', {bubbles: true, clientX: innerWidth - 1, clientY: 5}));
    const box = tip.getBoundingClientRect();
    if (tip.textContent !== mark.dataset.tip) faults.push('the tip of a mark is not shown');
    if (box.right > innerWidth || !(box.left >= 0)) faults.push('the tip of a mark leaves the window');
    document.body.dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
    if (!tip.hidden) faults.push('the tip of a mark stays');
  }
  return faults;
})()
