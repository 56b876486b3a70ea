import type { HTMLElement } from 'node-html-parser';

/** Text as it is read: elements apart, white space joined, no-break spaces as spaces. */
export const textOf = (element: HTMLElement | null) =>
  (element?.innerHTML ?? '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
