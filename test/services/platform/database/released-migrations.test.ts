import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const MIGRATIONS = new URL('../../../../services/migrations/', import.meta.url);

/** File names and SHA-256 of what has been released, as sha256sum writes them. */
async function released(): Promise<Map<string, string>> {
  const text = await readFile(new URL('SHA256SUMS', MIGRATIONS), 'utf8');
  return new Map(
    text
      .trim()
      .split('\n')
      .map((line) => line.split(/ +/))
      .map(([sum, name]) => [name!, sum!]),
  );
}

it('released migrations are as they were released', async () => {
  const sums = await released();
  expect(sums.size).toBeGreaterThanOrEqual(9);
  for (const [name, sum] of sums) {
    const content = await readFile(new URL(name, MIGRATIONS));
    expect(createHash('sha256').update(content).digest('hex'), name).toBe(sum);
  }
});

it('new migrations are numbered after the released ones', async () => {
  const names = [...(await released()).keys()];
  const added = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql') && !names.includes(name));
  expect(added.filter((name) => name <= names.toSorted().at(-1)!)).toEqual([]);
});
