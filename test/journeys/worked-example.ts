import { readFile } from 'node:fs/promises';

/** A row of a table by its column's names. */
export type TableRow = Readonly<Record<string, string>>;

/** A section of a document: its heading, and its tables in their order. */
export interface Section {
  readonly title: string;
  readonly tables: readonly (readonly TableRow[])[];
}

/** The second-level sections of a Markdown document. */
export async function readSections(file: URL): Promise<Section[]> {
  const [, ...sections] = (await readFile(file, 'utf8')).split(/^## /m);
  return sections.map((text) => {
    const [title = '', ...lines] = text.split('\n');
    return { title, tables: tablesOf(lines) };
  });
}

/** An amount as the document writes it, in centavos. */
export function centavos(reais: string | undefined): number {
  const written = /^(\d+)\.(\d\d)$/.exec(reais ?? '');
  if (!written) throw new TypeError(`${reais} is no amount in reais`);
  return Number(written[1]) * 100 + Number(written[2]);
}

function tablesOf(lines: readonly string[]): TableRow[][] {
  const tables: string[][][] = [];
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith('|')) continue;
    if (!lines[index - 1]?.startsWith('|')) tables.push([]);
    tables.at(-1)?.push(cellsOf(line));
  }
  return tables.map(([names = [], , ...rows]) =>
    rows.map((cells) => Object.fromEntries(names.map((name, column) => [name, cells[column] ?? '']))),
  );
}

const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
