import { COMPUTED, type SourceImport } from './source-imports.ts';

/** What the files of a part of the repository may import from it; `$area` stands for the area in the path. */
interface Part {
  readonly files: RegExp;
  readonly may: readonly string[];
}

const PLATFORM = 'services/platform/';
const CONTRACTS = 'services/contracts/';
const GENERATED = 'proto/gen/';

/** Who may import whom. The first part that a file matches counts. */
const PARTS: readonly Part[] = [
  // Limits, the fee, the reason and the type of the ping that a page and a service or workflow share.
  {
    files: /^gateway\//,
    may: ['gateway/', PLATFORM, GENERATED, `${CONTRACTS}[a-z]+/[a-z-]+-(limits|fee|reason|type)\\.ts$`],
  },
  { files: /^services\/platform\//, may: [PLATFORM, GENERATED] },
  // A contract is bundled into workflows, so it holds only ids and types.
  {
    files: /^services\/contracts\//,
    may: [CONTRACTS, `${PLATFORM}tenant\\.ts$`, `${PLATFORM}outbox/workflow-command\\.ts$`],
  },
  { files: /^services\/(?<area>[^/]+)\//, may: ['services/$area/', CONTRACTS, PLATFORM, GENERATED] },
  { files: /^services\/[^/]+$/, may: ['services/', GENERATED] },
  // The operator's own module.
  { files: /^workflows\/temporal\/custom-codec\.ts$/, may: ['\\(computed\\)'] },
  {
    files: /^workflows\/(temporal|relay)\//,
    may: ['workflows/(temporal|relay)/', 'workflows/[^/]+$', PLATFORM, GENERATED],
  },
  {
    files: /^workflows\/(?<area>[^/]+)\//,
    may: ['workflows/$area/', 'workflows/temporal/', 'workflows/[^/]+$', CONTRACTS, PLATFORM, GENERATED],
  },
  { files: /^workflows\/[^/]+$/, may: ['workflows/', CONTRACTS, PLATFORM, GENERATED] },
  // These run on other machines, without the rest of the repository.
  { files: /^cli\//, may: ['cli/'] },
  { files: /^client\//, may: ['client/'] },
  { files: /^local\//, may: ['local/', 'services/', 'gateway/', 'workflows/', GENERATED, '\\(computed\\)'] },
  { files: /^test\//, may: [''] },
];

/** What some files must not reach at run time through any chain of imports. */
const REACHES = [
  {
    // Only gateways use the rate-limit store, which may be any database.
    files: /^(gateway\/(?!rate-limits\/rate-limit-store\.ts$)|workflows\/)/,
    refused: (to: string) => /^(pg|kysely|@mikro-orm\/.*)$/.test(to),
    through: (file: string) => file !== 'gateway/rate-limits/rate-limit-store.ts',
    because: 'only services hold a database',
  },
  {
    files: /\.workflow\.ts$/,
    refused: (to: string) =>
      !/^((workflows|services\/contracts)\/.*\.ts|@temporalio\/(workflow|common))$/.test(to),
    through: () => true,
    because: 'a workflow is replayed: it runs on nothing but its contract and the Temporal SDK',
  },
  {
    files: /^cli\//,
    refused: (to: string) => !/^(cli\/|node:)/.test(to),
    through: () => true,
    because: 'the command runs on Node.js alone',
  },
  {
    files: /^client\//,
    refused: (to: string) => !/^client\//.test(to),
    through: () => true,
    because: 'the client runs on what Node.js, Deno, Bun, browsers and edge runtimes share',
  },
] as const;

const PATH = /^(cli|client|services|gateway|workflows|local|test|proto)\//;

/** Imports that the rules forbid. */
export function forbiddenImports(imports: readonly SourceImport[]): string[] {
  return imports
    .filter(({ from, to }) => (PATH.test(to) || to === COMPUTED) && !mayImport(from, to))
    .map(({ from, to }) => `${from} imports ${to}`);
}

function mayImport(from: string, to: string): boolean {
  const part = PARTS.find(({ files }) => files.test(from));
  const area = part?.files.exec(from)?.groups?.area ?? '';
  return part?.may.some((path) => new RegExp(`^${path.replace('$area', area)}`).test(to)) ?? false;
}

/** Chains of run-time imports by which a file reaches what it must not. */
export function forbiddenReaches(imports: readonly SourceImport[]): string[] {
  const running = graphOf(imports.filter(({ typeOnly }) => !typeOnly));
  return REACHES.flatMap(({ files, refused, through, because }) =>
    [...running.keys()]
      .filter((file) => files.test(file))
      .map((file) => pathTo(running, file, refused, through))
      .filter((path) => path !== undefined)
      .map((path) => `${path.join(' → ')}: ${because}`),
  );
}

/** The shortest chain from a file, through files that may be searched, to a forbidden import. */
function pathTo(
  graph: ReadonlyMap<string, readonly string[]>,
  start: string,
  refused: (to: string) => boolean,
  through: (file: string) => boolean,
): string[] | undefined {
  const paths = [[start]];
  const seen = new Set([start]);
  for (const path of paths) {
    for (const to of graph.get(path.at(-1)!) ?? []) {
      if (refused(to)) return [...path, to];
      if (!seen.has(to) && through(to)) paths.push([...path, to]);
      seen.add(to);
    }
  }
  return undefined;
}

/** Cycles of files that import each other, including types: each once, as its path. */
export function importCycles(imports: readonly SourceImport[]): string[] {
  const graph = graphOf(imports);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    const at = path.indexOf(file);
    if (at >= 0) cycles.push([...path.slice(at), file].join(' → '));
    if (at >= 0 || done.has(file)) return;
    for (const to of graph.get(file) ?? []) visit(to, [...path, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}

function graphOf(imports: readonly SourceImport[]): Map<string, string[]> {
  const graph = new Map<string, string[]>();
  for (const { from, to } of imports) graph.set(from, [...(graph.get(from) ?? []), to]);
  return graph;
}

const WORD = '[a-z0-9]+(-[a-z0-9]+)*';
const NAME = new RegExp(`^(${WORD}/)+${WORD}(\\.${WORD})*\\.ts$`);
const SAYS_NOTHING = /(^|[/.-])(utils?|helpers?|common|managers?|misc)([/.-]|$)/;

/** Files whose path is not in kebab-case or has a meaningless word. */
export function badNames(files: readonly string[]): string[] {
  return files.filter((file) => !NAME.test(file) || SAYS_NOTHING.test(file));
}
