import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

/** Files, headings and npm scripts that Markdown files refer to exist. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['docs', 'gateway', 'local', 'proto', 'services', 'test', 'workflows'];
const CODE_BLOCK = /^```.*?^```$/gms;
const INLINE_CODE = /`([^`\n]+)`/g;
const LINK = /\]\(([^)\s]+)\)|(?:href|src)="([^"]+)"/g;
/** A path of this repository, without placeholders such as `<area>`. */
const PATH = new RegExp(`^(?:${FOLDERS.join('|')})(?:/[\\w.-]+)+/?$`);

const files = globSync(['*.md', `{${FOLDERS.join(',')}}/**/*.md`], {
  cwd: ROOT,
  exclude: (path) => path.endsWith('node_modules'),
});
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const scripts = Object.keys(JSON.parse(textOf('package.json')).scripts);

/** The anchors that GitHub gives to the headings of a text. */
function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.replaceAll(CODE_BLOCK, '').matchAll(/^#+ (.+)$/gm);
  return new Set([...headings].map(([, heading]) => slugOf(heading!)));
}

const slugOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');

const withoutAccents = (anchor: string) => anchor.normalize('NFD').replaceAll(/\p{M}/gu, '');

/** The guides of a language are served as one page, whose headings have these anchors, by the folder of the language. */
const guideAnchors = Map.groupBy(
  files
    .filter((file) => file.startsWith('gateway/docs/'))
    .flatMap((file) =>
      [...anchorsOf(textOf(file))].map((anchor) => ({
        folder: dirname(file),
        anchor: `description/${withoutAccents(anchor)}`,
      })),
    ),
  ({ folder }) => folder,
);

function isBroken(link: string, file: string): boolean {
  if (/^(https?:|\/|\{\{)/.test(link)) return false;
  const [path = '', anchor] = link.split('#');
  if (path === '' && anchor?.startsWith('description/')) {
    return !guideAnchors.get(dirname(file))?.some((heading) => heading.anchor === anchor);
  }
  // The groups of operations are in the OpenAPI document, where the test of the reference in a browser looks for them.
  if (path === '' && anchor?.startsWith('tag/')) return false;
  const target = path === '' ? file : relative(ROOT, join(ROOT, dirname(file), path));
  if (!existsSync(join(ROOT, target))) return true;
  return anchor !== undefined && !anchorsOf(textOf(target)).has(anchor);
}

it('every relative link points to an existing file and heading', () => {
  const broken = files.flatMap((file) =>
    [...textOf(file).replaceAll(CODE_BLOCK, '').matchAll(LINK)]
      .map(([, markdown, html]) => (markdown ?? html)!)
      .filter((link) => isBroken(link, file))
      .map((link) => `${file}: ${link}`),
  );
  expect(broken).toEqual([]);
});

it('every path in inline code exists', () => {
  const missing = files.flatMap((file) =>
    [...textOf(file).replaceAll(CODE_BLOCK, '').matchAll(INLINE_CODE)]
      .flatMap(([, code]) => code!.split(' '))
      .filter((code) => PATH.test(code) && !existsSync(join(ROOT, code)))
      .map((path) => `${file}: ${path}`),
  );
  expect(missing).toEqual([]);
});

it('every npm script that is mentioned exists', () => {
  const unknown = files.flatMap((file) =>
    [...textOf(file).matchAll(/npm run (?:--silent )?([a-z][\w:-]*\w)\b(?! --workspace)/g)]
      .map(([, script]) => script!)
      .filter((script) => !scripts.includes(script))
      .map((script) => `${file}: ${script}`),
  );
  expect(unknown).toEqual([]);
});
