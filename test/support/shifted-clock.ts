// Preloaded to shift a process's clock by CLOCK_SHIFT_MS, ahead of the machine's or behind it.
const shiftMs = Number(process.env.CLOCK_SHIFT_MS);
const { Date: RealDate } = globalThis;

globalThis.Date = class extends RealDate {
  constructor(...parts: unknown[]) {
    super(...((parts.length === 0 ? [RealDate.now() + shiftMs] : parts) as [number]));
  }

  static override now(): number {
    return RealDate.now() + shiftMs;
  }
} as DateConstructor;
