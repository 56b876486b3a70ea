import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { composeEnv } from '../../local/compose-env.ts';

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
  readonly configs?: { source: string; target: string }[];
  readonly volumes?: string[];
}

/**
 * docker-compose.yml, or another compose file, with new secrets in the places of its variables, and the secrets; and the files that it holds.
 * `document` is all of it.
 * @param more variables of .env, which an operator adds.
 */
export async function readComposeFile(
  name = 'docker-compose.yml',
  more: Readonly<Record<string, string>> = {},
) {
  const env = { ...parseEnv(composeEnv()), ...more };
  const text = await readFile(new URL(`../../${name}`, import.meta.url), 'utf8');
  const filled = text.replaceAll(/\$\{(\w+)(?::-([^}]*)|[^}]*)\}/g, (_, name: string, fallback?: string) => {
    const value = env[name] || fallback;
    if (value === undefined) throw new Error(`docker-compose.yml takes ${name}, which .env does not have`);
    return value || "''";
  });
  const document = parse(filled, { merge: true });
  const { services, configs } = document;
  const containers: Record<string, Container> = services;
  const files: Record<string, { content: string }> = configs;
  return { document, containers, files, env };
}
