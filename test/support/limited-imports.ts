import { TestRunner } from 'vitest';

/** Fails a file whose import does not end, such as one that starts services that hang. Vitest would wait forever. */
export default class LimitedImports extends TestRunner {
  override async importFile(...[path, source]: Parameters<TestRunner['importFile']>): Promise<unknown> {
    const { hookTimeout } = this.config;
    const { promise: isLate, reject } = Promise.withResolvers<never>();
    const error = new Error(`the import of ${path} has taken more than ${hookTimeout} ms`);
    const timer = setTimeout(reject, hookTimeout, error);
    try {
      return await Promise.race([super.importFile(path, source), isLate]);
    } finally {
      clearTimeout(timer);
    }
  }
}
