import { SingleBar } from 'cli-progress'
import type { Context } from './context.ts'
import { escapeText } from './text.ts'
import { formatBytes } from './views.ts'

const LABEL_COLUMNS = 40

/** Shows how much of a whole has arrived or is done. */
export interface TransferProgress {
  /** @param value the part of the total @param label what is in work now */
  update(value: number, label?: string): void
  close(): void
}

/**
 * Shows the progress of a transfer.
 * @param total in bytes, or with `percent` in any unit
 */
export function createTransferProgress(
  cli: Pick<Context, 'out' | 'terminal'>,
  total: number,
  { label, percent = false }: { label: string; percent?: boolean },
): TransferProgress {
  const bar = createBar(cli, `{label} {bar} ${percent ? '{percentage} %' : '{size}'}`)
  const payload = (value: number, text: string) => ({
    label: escapeText(text).slice(-LABEL_COLUMNS),
    size: `${formatBytes(value)} of ${formatBytes(total)}`,
  })
  let current = label
  bar.start(Math.max(total, 1), 0, payload(0, current))
  return {
    update(value, text = current) {
      current = text
      bar.update(Math.min(value, Math.max(total, 1)), payload(value, text))
    },
    close: bar.close,
  }
}

/** Creates a bar on standard error. Without a terminal there, or with `--json` or `--quiet`, it shows nothing. */
export function createBar(
  { out, terminal }: Pick<Context, 'out' | 'terminal'>,
  format: string,
  enabled = true,
) {
  const shown = enabled && terminal.stderr.isTTY === true && !out.json && !out.quiet
  const bar = new SingleBar({
    stream: terminal.stderr,
    format,
    hideCursor: true,
    clearOnComplete: true,
    linewrap: null,
    fps: 10,
  })
  let started = false
  const stop = () => bar.stop()
  return {
    /** Starts the bar, or updates it. */
    start(total: number, value: number, payload?: object): void {
      if (started) return bar.update(value, payload)
      if (!shown) return
      started = true
      bar.start(total, value, payload)
      // Restores the cursor however the program ends.
      process.on('exit', stop)
    },
    update(value: number, payload?: object): void {
      if (started) bar.update(value, payload)
    },
    close(): void {
      process.off('exit', stop)
      if (started) stop()
    },
  }
}
