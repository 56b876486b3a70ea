import { html } from 'hono/html';

/** HTML in which every interpolated value is escaped, unless it is Html itself. */
export type Html = ReturnType<typeof html>;

export { html };

export const nothing: Html = html``;
