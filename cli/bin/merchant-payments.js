#!/usr/bin/env node
import { existsSync } from 'node:fs';

// A checkout runs from source; the published package has the compiled code alone.
const source = new URL('../merchant-payments.ts', import.meta.url);
const compiled = new URL('../dist/merchant-payments.js', import.meta.url);
await import((existsSync(source) ? source : compiled).href);
