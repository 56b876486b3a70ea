import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readImports, type SourceImport, sourceFiles } from '../architecture/source-imports.ts';

/** The part of the architecture guide that follows an event through the code. */

const [, GUIDE = ''] =
  /^### Follow an event through the code\n(.*?)^## /ms.exec(
    readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8'),
  ) ?? [];
const STAGES = GUIDE.split(/^#### /m)
  .slice(1)
  .map((section) => ({
    title: section.split('\n')[0]!,
    files: [...section.matchAll(/^\d+\. \[.*?\]\(\.\.\/(.*?)\)/gm)].map(([, file]) => file!),
  }));
const SUCCESS = STAGES[0]!.files;
const MAX_SUCCESS_FILES = 13;
/** Including those of the first attempt, which failed attempts pass too. */
const MAX_FAILURE_FILES = 21;
/** What callers and callees share when neither imports the other: a service's messages, or a workflow's input. */
const CONTRACT = /^(proto\/gen|services\/contracts)\//;

describe('following an event through the code', () => {
  let imports: SourceImport[];
  beforeAll(async () => {
    imports = await readImports(await sourceFiles());
  });
  const isImported = (one: string, other: string) =>
    imports.some(({ from, to }) => from === one && to === other);
  const contractsOf = (file: string) =>
    imports.filter(({ from, to }) => from === file && CONTRACT.test(to)).map(({ to }) => to);

  it('leads from the service that accepts an event to the row of its delivery, along imports', () => {
    expect(SUCCESS.at(0)).toBe('services/webhooks/events/events.service.ts');
    expect(SUCCESS.at(-1)).toBe('services/webhooks/deliveries/end-deliveries.sql.ts');
    expect(SUCCESS.length).toBeLessThanOrEqual(MAX_SUCCESS_FILES);
    const unconnected = SUCCESS.slice(1).filter(
      (file, index) =>
        !SUCCESS.slice(0, index + 1).some(
          (earlier) => isImported(file, earlier) || isImported(earlier, file),
        ),
    );
    expect(unconnected).toEqual([]);
  });

  it('leads from a failed attempt to its retry, along imports and shared contracts', () => {
    expect(STAGES).toHaveLength(4);
    const path = STAGES.flatMap(({ files }) => files);
    expect(path.length).toBeLessThanOrEqual(MAX_FAILURE_FILES);
    expect(new Set(path).size).toBe(path.length);
    const unconnected = path.filter((file, index) => {
      if (index < SUCCESS.length) return false;
      const contracts = contractsOf(file);
      return !path
        .slice(0, index)
        .some(
          (earlier) =>
            isImported(file, earlier) ||
            isImported(earlier, file) ||
            contractsOf(earlier).some((contract) => contracts.includes(contract)),
        );
    });
    expect(unconnected).toEqual([]);
  });

  it('draws the files that it lists, in the same order', () => {
    const [, diagram = ''] = /^```mermaid\n(.*?)^```$/ms.exec(GUIDE)!;
    const boxes = [...diagram.matchAll(/\["<b>.*?<\/b><br\/>(.*?)"\]/g)].map(([, files]) =>
      files!.split('<br/>'),
    );
    expect(boxes).toEqual(STAGES.map(({ files }) => files.map((file) => basename(file, '.ts'))));
  });
});
