import { SingleBar } from 'cli-progress'
import type { Context } from '../context.ts'
import { formatBytes } from '../views.ts'
import type { ExportSource } from './export-sources.ts'

export interface Progress {
  /** Bytes written so far. */
  readonly bytes: number
  passed(bytes: number): void
  close(): void
}

/** Shows the progress on standard error if that is a terminal: a bar for a known total, else the size so far. */
export function createProgress(
  { out, terminal }: Context,
  what: string,
  { total, written }: ExportSource,
  enabled: boolean,
): Progress {
  let bytes = 0
  const shown = enabled && terminal.stderr.isTTY === true && !out.json && !out.quiet
  const hasTotal = total !== undefined && total > 0
  const bar = new SingleBar({
    stream: terminal.stderr,
    format: hasTotal ? `${what} {bar} {value}/{total}  {size}` : `${what}  {size}  {duration_formatted}`,
    hideCursor: true,
    clearOnComplete: true,
    linewrap: null,
    fps: 10,
  })
  if (shown) bar.start(total ?? 1, 0, { size: formatBytes(0) })
  // Restores the cursor however the program ends.
  const stop = () => bar.stop()
  if (shown) process.on('exit', stop)
  return {
    get bytes() {
      return bytes
    },
    passed(more) {
      bytes += more
      if (shown) bar.update(Math.min(written?.() ?? 0, total ?? 1), { size: formatBytes(bytes) })
    },
    close() {
      process.off('exit', stop)
      if (shown) stop()
    },
  }
}

/** Shows how far the platform is with a stored export. */
export function createPreparation({ out, terminal }: Context) {
  const shown = terminal.stderr.isTTY === true && !out.json && !out.quiet
  const bar = new SingleBar({
    stream: terminal.stderr,
    format: 'the platform prepares {value}/{total} sessions {bar}',
    hideCursor: true,
    clearOnComplete: true,
    linewrap: null,
    fps: 10,
  })
  let started = false
  // Restores the cursor however the program ends.
  const stop = () => bar.stop()
  return {
    onProgress(rows: number, total: number) {
      if (!shown) return
      if (!started) {
        bar.start(total, rows)
        process.on('exit', stop)
      } else bar.update(rows)
      started = true
    },
    close() {
      process.off('exit', stop)
      if (started) stop()
    },
  }
}
