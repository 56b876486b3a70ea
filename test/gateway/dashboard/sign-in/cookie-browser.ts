import { type HTMLElement, parse } from 'node-html-parser';

/** A cookie as a server set it. */
export interface StoredCookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
  /** Names in lower case; `true` for those without a value. */
  readonly attributes: Readonly<Record<string, string | true>>;
}

/** The page that a browser has reached. */
export interface OpenedPage {
  readonly status: number;
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
  readonly document: HTMLElement;
  /** Every address on the way, including the last. */
  readonly way: readonly URL[];
}

const MOST_REDIRECTS = 10;

/** A browser without scripts that stores cookies like a real one: by host and path, regardless of the port. */
export class CookieBrowser {
  /** By name, and path where it is not the root. */
  readonly cookies = new Map<string, StoredCookie>();
  /** The values of all cookies that it ever had. */
  readonly cookieValues = new Set<string>();

  /** Opens an address, and follows redirects until `until` matches. */
  async open(
    address: string | URL,
    init: RequestInit = {},
    until?: (url: URL) => boolean,
  ): Promise<OpenedPage> {
    const way = [new URL(address)];
    let response = await this.#ask(way[0]!, init);
    for (let n = 0; n < MOST_REDIRECTS && response.headers.has('location'); n += 1) {
      const next = new URL(response.headers.get('location')!, way.at(-1));
      way.push(next);
      if (until?.(next)) break;
      await response.body?.cancel();
      response = await this.#ask(next, {});
    }
    const text = await response.text();
    const { status, headers } = response;
    return { status, url: way.at(-1)!, headers, text, document: parse(text), way };
  }

  /** Sends the form of a page whose action ends like this, with some fields changed. */
  submit(
    page: OpenedPage,
    action: string,
    changed: Readonly<Record<string, string>>,
    until?: (url: URL) => boolean,
  ): Promise<OpenedPage> {
    const form = page.document
      .querySelectorAll('form')
      .find((one) => (one.getAttribute('action') ?? '').endsWith(action));
    if (!form)
      throw new Error(`no form for ${action} at ${page.url} (${page.status}): ${page.document.text}`);
    const fields = form
      .querySelectorAll('input')
      .map((input): [string, string] => [input.getAttribute('name')!, input.getAttribute('value') ?? '']);
    const body = new URLSearchParams({ ...Object.fromEntries(fields), ...changed });
    const target = new URL(form.getAttribute('action') ?? page.url.href, page.url);
    return this.open(target, { method: 'POST', body }, until);
  }

  async #ask(url: URL, init: RequestInit): Promise<Response> {
    const headers = new Headers({ 'accept-language': 'en', ...init.headers });
    const sent = [...this.cookies.values()].filter(({ path }) => url.pathname.startsWith(path));
    if (sent.length > 0) headers.set('cookie', sent.map(({ name, value }) => `${name}=${value}`).join('; '));
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const header of response.headers.getSetCookie()) this.#keep(readCookie(header));
    return response;
  }

  #keep(cookie: StoredCookie): void {
    const { expires, 'max-age': maxAge } = cookie.attributes;
    const isGone = maxAge === undefined ? Date.parse(String(expires)) <= Date.now() : Number(maxAge) <= 0;
    const key = cookie.path === '/' ? cookie.name : `${cookie.name} ${cookie.path}`;
    if (isGone) return void this.cookies.delete(key);
    this.cookies.set(key, cookie);
    this.cookieValues.add(cookie.value);
  }
}

function readCookie(header: string): StoredCookie {
  const [pair = '', ...rest] = header.split(/;\s*/);
  const attributes = Object.fromEntries(
    rest.map((one): [string, string | true] => {
      const [name = '', ...value] = one.split('=');
      return [name.toLowerCase(), value.length > 0 ? value.join('=') : true];
    }),
  );
  const equals = pair.indexOf('=');
  const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)];
  if (name.startsWith('__Host-') && (!attributes.secure || attributes.domain || attributes.path !== '/')) {
    throw new Error(`browsers refuse the cookie ${header}`);
  }
  return { name, value, path: String(attributes.path ?? '/'), attributes };
}
