import { parse } from 'node-html-parser';
import { beforeAll, expect, test } from 'vitest';
import { type SharedDashboard, sharedDashboard } from './dashboard-fixture.ts';

let fixture: SharedDashboard;
beforeAll(async () => {
  fixture = await sharedDashboard();
});

/** The links on the page that explains a failure. */
async function linksFor(referer: string): Promise<(string | undefined)[]> {
  const answer = await fetch(`${fixture.baseUrl}/nowhere`, { headers: { referer } });
  expect(answer.status).toBe(404);
  const links = parse(await answer.text()).querySelectorAll('main a');
  return links.map((link) => link.getAttribute('href'));
}

test('a failure page links to the page before it', async () => {
  expect(await linksFor(`${fixture.baseUrl}/account?page=x`)).toEqual(['/account?page=x', '/']);
});

test.for([
  'https://evil.example/x',
  '//evil.example/x',
  '/\\evil.example/x',
  '/.//evil.example/x',
  '/nowhere',
  '',
])('a failure page links to this host only, not to %j', async (path) => {
  expect(await linksFor(path.startsWith('https:') ? path : `${fixture.baseUrl}${path}`)).toEqual(['/']);
});
