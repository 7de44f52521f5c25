// Shows the data-tip of the element below the pointer.
const tip = document.getElementById('tip');
document.addEventListener('pointerover', (event) => {
  const text = event.target.dataset && event.target.dataset.tip;
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8);
  const top = Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8);
  tip.style.left = Math.max(left, 8) + 'px';
  tip.style.top = Math.max(top, 8) + 'px';
});
