/**
 * Reads vitest's JSON reports for `.ci/run`:
 *
 *     node summary.mjs to-repeat <report>                      prints the failed files if they are few
 *     node summary.mjs total <folder> [--step <command> <last lines>]… [--run <name> <exit code>]…
 *
 * `total` prints every failed test and ends with "N passed, N failed". A failed step counts as one failure. Of files that
 * were repeated, in `<name>-repeated.json`, the second result counts, and the first is printed as UNSTABLE.
 */
import { existsSync, readFileSync } from 'node:fs';

/** With more failed files than this, the change is at fault, and repeating them would only take time. */
const MOST_REPEATED = 5;

const [command, ...args] = process.argv.slice(2);
if (command === 'to-repeat') {
  const failed = filesOf(args[0]).filter(({ status }) => status === 'failed');
  if (failed.length <= MOST_REPEATED) for (const { name } of failed) console.log(name);
} else {
  total(...args);
}

function filesOf(report) {
  const text = existsSync(report) ? readFileSync(report, 'utf8') : '';
  return text ? JSON.parse(text).testResults : [];
}

function total(folder, ...outcomes) {
  let [passed, failed] = [0, 0];
  while (outcomes.length > 0) {
    if (outcomes.shift() === '--step') {
      const [step, lastLines] = outcomes.splice(0, 2);
      console.log(`FAILED ${step}\n${lastLines}`);
      failed += 1;
      continue;
    }
    const [name, exitCode] = outcomes.splice(0, 2);
    const files = filesOf(`${folder}/${name}.json`);
    const repeated = new Map(filesOf(`${folder}/${name}-repeated.json`).map((file) => [file.name, file]));
    let failures = 0;
    for (const first of files) {
      const file = repeated.get(first.name) ?? first;
      if (file !== first && file.status === 'passed') print('UNSTABLE', first);
      const of = (status) => file.assertionResults.filter((test) => test.status === status).length;
      passed += of('passed');
      if (file.status !== 'failed') continue;
      print('FAILED', file);
      // A file that cannot be loaded has no tests to count.
      failures += Math.max(of('failed'), 1);
    }
    // Errors outside any test fail a run without failing a test.
    if (exitCode !== '0' && failures === 0) {
      console.log(`FAILED npm run ${name}, outside its tests`);
      console.log(readFileSync(`${folder}/${name}.log`, 'utf8').split('\n').slice(-60).join('\n'));
      failures = 1;
    }
    failed += failures;
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 ? 1 : 0;
}

function print(label, { name, message, assertionResults }) {
  console.log(`${label} ${name} ${message.split('\n', 1)}`);
  for (const { fullName, failureMessages } of assertionResults.filter((test) => test.status === 'failed')) {
    console.log(`  ${fullName}\n    ${failureMessages.join('\n').split('\n').slice(0, 12).join('\n    ')}`);
  }
}
