import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataFolder } from '../../local/data-folder.ts';

/** Creates an empty folder; call `remove` when done with it. */
export function makeFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'payments-test-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A data folder that is deleted at the end of the scope. */
export function temporaryDataFolder(): { readonly folder: DataFolder; [Symbol.dispose](): void } {
  const { path, remove } = makeFolder();
  const folder = DataFolder.open(path);
  return {
    folder,
    [Symbol.dispose]() {
      folder.close();
      remove();
    },
  };
}
