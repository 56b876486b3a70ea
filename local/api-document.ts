import { openApiDocument } from './openapi-document.ts';

/**
 * What the types of the client are generated from: the served document without examples, which change with each new one,
 * and without failures, which all have one type. Both environments have the same types.
 */
process.stdout.write(JSON.stringify(await openApiDocument('live'), leaveOut));

function leaveOut(key: string, value: unknown): unknown {
  if (key === 'example' || key === 'examples') return undefined;
  if (key === 'responses') return onlySuccesses(value as Record<string, object>);
  return value;
}

function onlySuccesses(responses: Record<string, object>): object {
  return Object.fromEntries(
    Object.entries(responses).flatMap(([status, response]) =>
      status.startsWith('2') ? [[status, { ...response, headers: undefined }]] : [],
    ),
  );
}
