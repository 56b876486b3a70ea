import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { composeEnv } from '../../local/compose-env.ts';

const root = new URL('../../', import.meta.url);

/** What docker-compose.yml says of a container. */
export interface Container {
  readonly image?: string;
  readonly command?: string[];
  readonly user?: string;
  readonly environment?: Record<string, string>;
  readonly ports?: string[];
  readonly tmpfs?: string[];
  readonly healthcheck?: { readonly test: string[] };
  readonly restart?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: string[];
  readonly security_opt?: string[];
  readonly deploy?: { readonly resources: { readonly limits: { cpus: string; memory: string } } };
  readonly depends_on?: string[] | Record<string, unknown>;
  readonly volumes?: string[];
}

/**
 * docker-compose.yml, or another compose file, with new secrets in the places of its variables, and the secrets.
 * `document` is all of it.
 * @param more variables of .env, which an operator adds.
 */
export async function readComposeFile(
  name = 'docker-compose.yml',
  more: Readonly<Record<string, string>> = {},
) {
  const env = { ...parseEnv(composeEnv()), ...more };
  const text = await readFile(new URL(name, root), 'utf8');
  const filled = text.replaceAll(/\$\{(\w+)(?::-([^}]*)|[^}]*)\}/g, (_, name: string, fallback?: string) => {
    const value = env[name] || fallback;
    if (value === undefined) throw new Error(`docker-compose.yml takes ${name}, which .env does not have`);
    return value || "''";
  });
  const document = parse(filled, { merge: true });
  const containers: Record<string, Container> = document.services;
  return { document, containers, env };
}

/** The files of the repository that a container sees, by their paths in it. */
export const mountedFiles = ({ volumes = [] }: Container): ReadonlyMap<string, URL> =>
  new Map(
    volumes
      .map((volume) => volume.split(':'))
      .filter(([file]) => file!.startsWith('./'))
      .map(([file, path]) => [path!, new URL(file!, root)]),
  );
