import type { Page } from 'playwright-core';

/**
 * Runs in the page. Headings, times and amounts take one line each. A word may end a line at a hyphen, but not if it has
 * digits, as ids and dates have. URLs may be split, since no table has room for all of them.
 */
const FIND_FAULTS = `(() => {
  const linesOf = (range) => new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ bottom }) => Math.round(bottom / 8))).size;
  const contentsOf = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return range;
  };
  const page = document.documentElement;
  const faults = page.scrollWidth > page.clientWidth ? ['the page scrolls sideways'] : [];
  for (const table of document.querySelectorAll('table')) {
    if (!table.checkVisibility()) continue;
    const fault = (text) => faults.push((table.caption?.textContent ?? table.tHead?.textContent ?? '').trim() + ': ' + text.trim());
    for (let box = table; box; box = box.parentElement) {
      const scrolls = ['auto', 'scroll'].includes(getComputedStyle(box).overflowX);
      if (scrolls && box.scrollWidth > box.clientWidth) fault('the table scrolls sideways');
    }
    for (const whole of table.querySelectorAll('thead th, time, data')) {
      if (whole.checkVisibility() && linesOf(contentsOf(whole)) > 1) fault('on two lines: ' + whole.textContent);
    }
    const texts = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (!text.parentElement.checkVisibility()) continue;
      for (const { 0: word, index } of text.data.matchAll(/(?=\\S*\\d)\\S+|[^\\s-]*-*/g)) {
        if (word === '' || word.includes('/')) continue;
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        if (linesOf(range) > 1) fault('split: ' + word);
      }
    }
  }
  return [...new Set(faults)];
})()`;

/** Visible faults of the tables on a page, at the width of its window, one line each. */
export function tableFaults(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(FIND_FAULTS);
}
