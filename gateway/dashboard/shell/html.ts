import { html } from 'hono/html';

/** HTML whose every value was escaped, unless it was HTML already. */
export type Html = ReturnType<typeof html>;

export { html };

/** Nothing to show. */
export const nothing: Html = html``;
