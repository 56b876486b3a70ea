import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readImports, sourceFiles } from '../architecture/source-imports.ts';

/** The part of the architecture guide that leads a reader through the code. */

const GUIDE = new URL('../../docs/architecture.md', import.meta.url);
const MOST_FILES = 15;

it('leads from the RPC that accepts an event to the row of its delivery, from file to file along imports', async () => {
  const [, guide] = /^### Follow an event through the code\n(.*?)^## /ms.exec(readFileSync(GUIDE, 'utf8'))!;
  const files = [...guide!.matchAll(/^\d+\. \[.*?\]\(\.\.\/(.*?)\)/gm)].map(([, file]) => file!);
  expect(files.length).toBeLessThanOrEqual(MOST_FILES);
  expect(files).toContain('services/webhooks/events/publish-events.ts');
  expect(files.at(-1)).toBe('services/webhooks/deliveries/end-deliveries.ts');
  const imports = await readImports(await sourceFiles());
  const isTied = (file: string, before: readonly string[]) =>
    imports.some(
      ({ from, to }) => (from === file && before.includes(to)) || (to === file && before.includes(from)),
    );
  const untied = files.filter(
    (file, place) => place > 0 && file.endsWith('.ts') && !isTied(file, files.slice(0, place)),
  );
  expect(untied).toEqual([]);
});
