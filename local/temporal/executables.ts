import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of a program in one of the folders of PATH. Throws when there is none. */
export function findOnPath(name: string, { PATH = '' }: NodeJS.ProcessEnv): string {
  const folders = PATH.split(delimiter).filter((folder) => folder !== '');
  const program = folders.map((folder) => join(folder, name)).find(isExecutable);
  if (!program) throw new Error(`no ${name} on the PATH`);
  return program;
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
