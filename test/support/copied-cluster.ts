import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import type { DataFolder } from '../../local/data-folder.ts';

/** What GNU tar and others answer when a file changed or vanished while it was read, as files of a running server do. */
const FILES_CHANGED = 1;
const LEFT_OUT = ['pg_wal/*', 'postmaster.pid', 'postmaster.opts', 'pg_replslot/*'];

/**
 * Takes a base backup of a running server and puts it where `startPostgres` finds it, by the functions of SQL that
 * pg_basebackup uses too. What the copy has to read from the WAL is up to the caller's settings.
 * @param settings lines of postgresql.auto.conf. @param signalFile `standby.signal` or `recovery.signal`.
 */
export async function copyCluster({
  url,
  from,
  to,
  signalFile,
  settings,
}: {
  readonly url: string;
  readonly from: DataFolder;
  readonly to: DataFolder;
  readonly signalFile: 'standby.signal' | 'recovery.signal';
  readonly settings: readonly string[];
}): Promise<void> {
  const [source, copy] = [from.file('postgres'), to.file('postgres')];
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('copy', fast => true)`);
    mkdirSync(copy, { mode: 0o700 });
    copyFiles(source, copy);
    const { rows } = await client.query('select labelfile from pg_backup_stop(wait_for_archive => false)');
    writeFileSync(join(copy, 'backup_label'), rows[0].labelfile, { mode: 0o600 });
  } finally {
    await client.end();
  }
  writeFileSync(join(copy, signalFile), '', { mode: 0o600 });
  appendFileSync(join(copy, 'postgresql.auto.conf'), `${settings.join('\n')}\n`);
  const { uid, gid } = statSync(source);
  for (const name of ['', 'backup_label', signalFile]) chownSync(join(copy, name), uid, gid);
  chmodSync(copy, 0o700);
  // Roles and passwords are the server's.
  to.write('postgres.json', JSON.stringify({ password: new URL(url).password }));
}

function copyFiles(source: string, copy: string): void {
  const leftOut = LEFT_OUT.map((pattern) => `--exclude=./${pattern}`).join(' ');
  const script = `tar -C "$1" ${leftOut} -cf - . || [ $? = ${FILES_CHANGED} ]`;
  const pipe = `{ ${script}; } | tar -C "$2" -xpf -`;
  execFileSync('/bin/sh', ['-c', pipe, 'sh', source, copy], { stdio: ['ignore', 'ignore', 'pipe'] });
}
