import { findTemporalProgram } from '../../../local/temporal/temporal-program.ts';
import { temporaryDataFolder } from '../temporary-data-folder.ts';

/** The path of a real server, found or built as `npm start` does. Allow TEMPORAL_START_MS for it. */
export async function findRealTemporal(): Promise<string> {
  using data = temporaryDataFolder();
  const { signal } = new AbortController();
  const { folder } = data;
  return await findTemporalProgram({ folder, environment: process.env, onSlowStep: () => undefined, signal });
}
