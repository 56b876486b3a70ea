import { readFile, writeFile } from 'node:fs/promises';
import { SETTINGS, type Setting } from '../services/platform/process/config.ts';
import { textTable } from './text-table.ts';

const ENV_EXAMPLE = new URL('../.env.example', import.meta.url);
const SETTINGS_PAGE = new URL('../docs/settings.md', import.meta.url);
const TABLE_BLOCK = /(?<=<!-- settings -->\n).*?(?=<!-- \/settings -->)/s;
const REQUIRED = 'made once by npm start, else required';

const rows = Object.entries<Setting<unknown>>(SETTINGS);

/** Every setting with its default and what it means, for a terminal. */
export function settingsHelp(): string {
  return textTable(
    rows.map(([name, { fallback, description }]) => [name, fallback ?? `(${REQUIRED})`, description]),
  );
}

/** What .env.example holds: each setting commented out, as it is when absent. */
export function envExample(): string {
  const entries = rows.map(
    ([name, { fallback, description }]) =>
      `# ${description}${fallback === undefined ? ` (${REQUIRED})` : ''}\n#${name}=${fallback ?? ''}\n`,
  );
  return `# Generated from services/platform/process/config.ts by: npm run settings\n\n${entries.join('\n')}`;
}

/** The page with the table of settings between its markers. Throws when it has no markers. */
export function withSettings(page: string): string {
  if (!TABLE_BLOCK.test(page))
    throw new Error('docs/settings.md has no <!-- settings --> … <!-- /settings -->');
  return page.replace(TABLE_BLOCK, () => markdownTable());
}

function markdownTable(): string {
  const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
  const lines = rows.map(([name, { fallback, description }]) => {
    const absent = fallback === undefined ? REQUIRED : fallback && `\`${fallback}\``;
    return `| \`${name}\` | ${cell(absent)} | ${cell(description)} |\n`;
  });
  return `| setting | default | |\n|---|---|---|\n${lines.join('')}`;
}

if (import.meta.main) {
  await writeFile(ENV_EXAMPLE, envExample());
  await writeFile(SETTINGS_PAGE, withSettings(await readFile(SETTINGS_PAGE, 'utf8')));
}
