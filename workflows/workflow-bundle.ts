import { fork } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  bundleWorkflowCode,
  type WorkflowBundleOption,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import { messageOf } from '../services/platform/errors.ts';
import { type Config, ConfigError } from '../services/platform/process/config.ts';
import { sdkLogger } from './sdk-logger.ts';
import { encodesPayloads, FAILURE_CONVERTER_PATH, type PayloadConfig } from './temporal/data-converter.ts';

export type BundleConfig = PayloadConfig & Partial<Pick<Config, 'WORKFLOW_BUNDLE_DIR'>>;

/** An argument of the process that bundles. */
export const ENCODES_FAILURES = '--encodes-failures';

/** The files of WORKFLOW_BUNDLE_DIR, by whether a codec encodes failures. */
export const bundleFile = (encodesFailures: boolean) =>
  encodesFailures ? 'workflows-encoded.cjs' : 'workflows.cjs';

let bundle: Promise<WorkflowBundleOption> | undefined;

/**
 * The workflow code: of WORKFLOW_BUNDLE_DIR, or else bundled on the first call in this process. Rejects if its file cannot be
 * read, which the SDK would report only once it has connected to Temporal, or if it does not bundle.
 */
export async function workflowBundleOf(config: BundleConfig): Promise<WorkflowBundleOption> {
  const encodesFailures = encodesPayloads(config);
  if (config.WORKFLOW_BUNDLE_DIR) {
    const codePath = join(config.WORKFLOW_BUNDLE_DIR, bundleFile(encodesFailures));
    await access(codePath, constants.R_OK).catch((error: unknown) => {
      throw new ConfigError([`WORKFLOW_BUNDLE_DIR has no workflow code: ${messageOf(error)}`]);
    });
    return { codePath };
  }
  bundle ??= bundleInOwnProcess(encodesFailures);
  return bundle;
}

/** Bundles in a separate process: see bundle-process.ts. */
async function bundleInOwnProcess(encodesFailures: boolean): Promise<WorkflowBundleOption> {
  const program = fileURLToPath(new URL('./bundle-process.ts', import.meta.url));
  const child = fork(program, encodesFailures ? [ENCODES_FAILURES] : [], { execArgv: [] });
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`the workflow code does not bundle: its process ended with ${code}`);
  });
  const [code] = (await Promise.race([once(child, 'message'), ended])) as [string];
  return { code };
}

/**
 * Bundles the workflow code. Takes seconds, so call it once per process.
 * @param encodesFailures whether workflows put messages of failures into payloads, for a codec.
 */
export function bundleWorkflows(
  logger: Logger,
  encodesFailures: boolean,
): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflows.ts', import.meta.url)),
    workflowInterceptorModules: [
      fileURLToPath(new URL('./temporal/carry-cause.interceptor.ts', import.meta.url)),
      fileURLToPath(new URL('./temporal/count-failures.interceptor.ts', import.meta.url)),
      fileURLToPath(new URL('./relay/end-starts.interceptor.ts', import.meta.url)),
    ],
    // Evaluates this stateless module once per thread instead of once per workflow, which halves the cost of a short one.
    preloadModules: ['@temporalio/common'],
    ...(encodesFailures && { failureConverterPath: FAILURE_CONVERTER_PATH }),
    logger: sdkLogger(logger),
  });
}
