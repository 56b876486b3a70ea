import { glob, readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';

/** One import of a source file. */
export interface SourceImport {
  /** Path of the importing file from the top of the repository. */
  readonly from: string;
  /** Path of the imported file, or the name of a package. */
  readonly to: string;
  /** Whether it is erased before the code runs. */
  readonly typeOnly: boolean;
}

/** What `import` of a computed name imports: anything. */
export const COMPUTED = '(computed)';

const ROOT = new URL('../../', import.meta.url);

/** Paths of all source files, from the top of the repository. */
export async function sourceFiles(): Promise<string[]> {
  const files = glob('{cli,client,services,gateway,workflows,local,test}/**/*.ts', {
    cwd: ROOT,
    exclude: ['**/node_modules/**', '**/dist/**'],
  });
  return (await Array.fromAsync(files)).sort();
}

/** All imports of source files. */
export async function readImports(files: readonly string[]): Promise<SourceImport[]> {
  const imports = await Promise.all(
    files.map(async (file) => importsOf(file, await readFile(new URL(file, ROOT), 'utf8'))),
  );
  return imports.flat();
}

/** The imports of a file: statements, re-exports, types named by `import('…')`, and calls of `import`. */
export function importsOf(from: string, source: string): SourceImport[] {
  const { program, errors } = parseSync(from, source);
  if (errors.length > 0) throw new SyntaxError(`${from}: ${errors[0]?.message}`);
  const found: SourceImport[] = [];
  const add = (specifier: string, typeOnly: boolean) => {
    const to = specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : specifier;
    found.push({ from, to, typeOnly });
  };
  const allTypes = (specifiers: readonly { type: string; importKind?: string; exportKind?: string }[]) =>
    specifiers.length > 0 &&
    specifiers.every(({ importKind, exportKind }) => (importKind ?? exportKind) === 'type');
  new Visitor({
    ImportDeclaration: (node) =>
      add(node.source.value, node.importKind === 'type' || allTypes(node.specifiers)),
    ExportAllDeclaration: (node) => add(node.source.value, node.exportKind === 'type'),
    ExportNamedDeclaration: (node) => {
      if (node.source) add(node.source.value, node.exportKind === 'type' || allTypes(node.specifiers));
    },
    TSImportType: (node) => add(node.source.value, true),
    ImportExpression: ({ source }) => add(source.type === 'Literal' ? String(source.value) : COMPUTED, false),
  }).visit(program);
  return found;
}
