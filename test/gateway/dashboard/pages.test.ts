import { randomUUID } from 'node:crypto';
import { glob, readFile } from 'node:fs/promises';
import { parse } from 'node-html-parser';
import { expect, test } from 'vitest';
import { Role } from '../../../proto/gen/payments/accounts/v1/accounts_pb.js';
import { type SeenPage, sharedDashboard, type Visitor } from './dashboard-fixture.ts';

const fixture = await sharedDashboard();

async function member(role = Role.ADMIN) {
  const merchant = randomUUID();
  return { merchant, visitor: await fixture.signIn({ [merchant]: role }) };
}

test('a visitor without a session is sent to sign-in and returns to the page with its query', async () => {
  const path = `/live/${randomUUID()}/webhooks?state=ERROR`;
  const response = await fetch(new URL(path, fixture.baseUrl), { redirect: 'manual' });
  expect(response.status).toBe(303);
  expect(response.headers.get('location')).toBe(`/sign-in?return=${encodeURIComponent(path)}`);
});

test('live and sandbox differ in path, name and color, and link to each other', async () => {
  const { merchant, visitor } = await member();
  const [live, sandbox] = [`/live/${merchant}`, `/sandbox/${merchant}`];
  const seen = await Promise.all([live, sandbox].map((base) => visitor.get(`${base}/webhooks`)));
  const marks = seen.map(({ document }) => ({
    colour: document.querySelector('html')!.getAttribute('data-environment'),
    word: document.querySelector('.environment strong')!.text,
    title: document.querySelector('title')!.text.split(' · ')[1],
    other: document.querySelector('.switch a')!.getAttribute('href'),
  }));
  expect(marks).toEqual([
    { colour: 'live', word: 'Live', title: 'Live', other: sandbox },
    { colour: 'test', word: 'Sandbox', title: 'Sandbox', other: live },
  ]);
});

test('the navigation shows the sections that the role may open, and each of its links works', async () => {
  for (const role of [Role.VIEWER, Role.FINANCE, Role.DEVELOPER, Role.ADMIN]) {
    const { merchant, visitor } = await member(role);
    for (const side of ['live', 'sandbox']) {
      const { document } = await visitor.get(`/${side}/${merchant}/refunds`);
      const links = document.querySelectorAll('nav.sections a').map((link) => link.getAttribute('href')!);
      expect(links.some((link) => link.endsWith('/audit'))).toBe(role === Role.ADMIN);
      expect(links.some((link) => link.endsWith('/simulate'))).toBe(
        role !== Role.VIEWER && role !== Role.FINANCE && side === 'sandbox',
      );
      expect(links.some((link) => link.endsWith('/webhooks'))).toBe(role !== Role.FINANCE);
      for (const link of links) {
        const page = await visitor.get(link);
        expect(page.status, link).toBe(200);
        expect(page.document.querySelector('[aria-current="page"]')?.getAttribute('href')).toBe(link);
      }
    }
  }
});

test('pages are in the chosen language, else in the browser’s, else in Portuguese', async () => {
  const { merchant, visitor } = await member();
  const session = `__Host-session=${visitor.token}`;
  const languageOf = async (headers: Record<string, string>) => {
    const page = await visitor.fetch(`/live/${merchant}/webhooks`, { headers });
    return /<html lang="([^"]+)"/.exec(await page.text())?.[1];
  };
  expect(await languageOf({ cookie: session })).toBe('pt-BR');
  expect(await languageOf({ cookie: session, 'accept-language': 'de, en-GB;q=0.8' })).toBe('en');
  expect(await languageOf({ cookie: `${session}; language=pt-BR`, 'accept-language': 'en' })).toBe('pt-BR');
  expect(await languageOf({ cookie: `${session}; language=xx` })).toBe('pt-BR');
});

/** Where the link to the other language leads. */
async function otherLanguage(visitor: Visitor, { document }: SeenPage): Promise<[number, string]> {
  const link = document.querySelector('a[href^="/language"]')!.getAttribute('href')!;
  const { status, path } = await visitor.get(link);
  return [status, path];
}

test('the language link in a form’s response leads to the page of the form', async () => {
  const { merchant, visitor } = await member();
  const path = `/live/${merchant}/members`;
  const refused = await visitor.submit(path, '/invite', { email: 'no address' });
  expect(refused.status).toBe(422);
  expect(await otherLanguage(visitor, refused)).toEqual([200, path]);
  const stale = await visitor.submit(path, '/invite', { email: 'a@b.example', _key: 'none' });
  expect(stale.status).toBe(400);
  expect(await otherLanguage(visitor, stale)).toEqual([200, path]);
});

test.for([
  ['/account?page=x', '/account?page=x'],
  ['https://evil.example/account', '/'],
])(
  'the language link of a failed form without a merchant leads to a page of this host: from %s',
  async ([from, to]) => {
    const { visitor } = await member();
    const headers = {
      cookie: `__Host-session=${visitor.token}`,
      referer: new URL(from!, fixture.baseUrl).href,
    };
    const body = new URLSearchParams({ _csrf: 'stale' });
    const answer = await visitor.fetch('/account/sign-out-everywhere', { method: 'POST', body, headers });
    expect(answer.status).toBe(403);
    const link = parse(await answer.text())
      .querySelector('a[href^="/language"]')!
      .getAttribute('href');
    expect(link).toBe(`/language?return=${encodeURIComponent(to!)}`);
  },
);

test('a page shows only its own notices', async () => {
  const { merchant, visitor } = await member();
  const path = `/live/${merchant}/members`;
  const said = async (name: string) =>
    (await visitor.get(`${path}?notice=${encodeURIComponent(name)}`)).document.querySelector(
      '[role="status"]',
    )?.text;
  expect(await said('role')).toContain('Role saved');
  const others = [
    '',
    'other',
    'constructor',
    '__proto__',
    'toString',
    '<img src=x>',
    'role\r\nset-cookie: a=b',
  ];
  for (const name of others) expect(await said(name), name).toBeUndefined();
});

test('no page can contain text that is not escaped: all are written by the escaping templates of one file', async () => {
  const root = new URL('../../../gateway/dashboard/', import.meta.url);
  const found: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: root })) {
    const source = await readFile(new URL(file, root), 'utf8');
    for (const [line] of source.matchAll(/^.*(from 'hono|isEscaped).*$/gm)) found.push(`${file}: ${line}`);
  }
  expect(found).toEqual(["shell/html.ts: import { html } from 'hono/html';"]);
});

test.for([
  ['/funds/sales', 'No sales yet.'],
  ['/funds/sales?status=BLOCKED', 'No sales match these filters.'],
  ['/refunds?status=', 'No refund cases yet.'],
  ['/refunds?status=FAILED', 'No cases match these filters.'],
  ['/disputes?status=', 'No disputes yet.'],
  ['/disputes?status=LOST', 'No disputes match these filters.'],
])('%s of a new merchant says: %s', async ([path, text]) => {
  const { merchant, visitor } = await member(Role.VIEWER);
  const { document } = await visitor.get(`/live/${merchant}${path}`);
  expect(document.querySelector('.empty')?.text).toBe(text);
});
