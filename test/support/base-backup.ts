import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DataFolder } from '../../local/data-folder.ts';
import { type EmbeddedPostgres, startPostgres } from '../../local/postgres/postgres-server.ts';
import { openSession, query } from './sql.ts';

/**
 * The exit code of GNU tar and others when a file changed or vanished while it was read, as files of a running server
 * do.
 */
const FILES_CHANGED = 1;
const LEFT_OUT = ['pg_wal/*', 'postmaster.pid', 'postmaster.opts', 'pg_replslot/*'];

/**
 * Takes a base backup of a running server and puts it where `startPostgres` finds it; {@link configureRecovery} says what for. Uses
 * the pg_basebackup that PG_BASEBACKUP names (of version 18 or later), else the SQL functions for those who copy the files
 * themselves: the packages of this project contain no pg_basebackup.
 * @param from holds the server of the URL.
 */
export async function takeBaseBackup(url: string, from: DataFolder, to: DataFolder): Promise<void> {
  const [source, copy] = [from.file('postgres'), to.file('postgres')];
  const { PG_BASEBACKUP } = process.env;
  if (PG_BASEBACKUP) {
    execFileSync(PG_BASEBACKUP, ['-d', url, '-D', copy, '--checkpoint=fast'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  } else {
    const labelFile = await withBackup(url, () => copyFiles(source, copy));
    writeFileSync(join(copy, 'backup_label'), labelFile);
  }
  chmodSync(copy, 0o700);
  // Roles and passwords are the server's.
  to.write('postgres.json', JSON.stringify({ password: new URL(url).password }));
}

/** What the server of a base backup becomes when it starts, with settings for it. */
export function configureRecovery(
  what: 'standby' | 'recovery',
  folder: DataFolder,
  settings: Readonly<Record<string, string>>,
): void {
  const cluster = folder.file('postgres');
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
  appendFileSync(join(cluster, 'postgresql.auto.conf'), `${lines.join('\n')}\n`);
  writeFileSync(join(cluster, `${what}.signal`), '');
  const owner = statSync(join(folder.file('postgres'), 'PG_VERSION'));
  // Root runs PostgreSQL as another user.
  const { uid, gid } = process.getuid?.() === 0 ? postgresUser() : owner;
  execFileSync('chown', ['-R', `${uid}:${gid}`, cluster]);
}

/** Starts a streaming standby of a running server, from a base backup. Stop it when done with it. */
export async function startStandby(
  primary: EmbeddedPostgres,
  from: DataFolder,
  to: DataFolder,
  settings: Readonly<Record<string, string>> = {},
): Promise<EmbeddedPostgres> {
  const { port, username, password } = new URL(primary.url);
  // The backup has no WAL, and a checkpoint would remove what a slow standby has not received: it could never follow again.
  await query(primary.url, "alter system set wal_keep_size = '1GB'", 'select pg_reload_conf()');
  await takeBaseBackup(primary.url, from, to);
  configureRecovery('standby', to, {
    primary_conninfo: `host=127.0.0.1 port=${port} user=${username} password=${password}`,
    ...settings,
  });
  return startPostgres({ folder: to, log: () => undefined, throwaway: true });
}

const idOf = (flag: '-u' | '-g') => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
const postgresUser = () => ({ uid: idOf('-u'), gid: idOf('-g') });

/** @returns the contents of backup_label. */
async function withBackup(url: string, copy: () => void): Promise<string> {
  await using client = await openSession(url);
  await client.query(`select pg_backup_start('copy', fast => true)`);
  copy();
  const { rows } = await client.query('select labelfile from pg_backup_stop(wait_for_archive => false)');
  return rows[0].labelfile;
}

function copyFiles(source: string, copy: string): void {
  mkdirSync(copy, { mode: 0o700 });
  const leftOut = LEFT_OUT.map((pattern) => `--exclude=./${pattern}`).join(' ');
  const read = `tar -C "$1" ${leftOut} -cf - . || [ $? = ${FILES_CHANGED} ]`;
  execFileSync('/bin/sh', ['-c', `{ ${read}; } | tar -C "$2" -xpf -`, 'sh', source, copy], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}
