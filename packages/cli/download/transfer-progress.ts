import { SingleBar } from 'cli-progress'
import type { Context } from '../context.ts'
import { escapeText } from '../text.ts'
import { formatBytes } from '../views.ts'

const LABEL_COLUMNS = 40

/** Shows how much of a whole has arrived or is done. */
export interface TransferProgress {
  /** @param value the part of the total @param label what is in work now */
  update(value: number, label?: string): void
  close(): void
}

/**
 * Shows the progress on standard error if that is a terminal.
 * @param total in bytes, or with `percent` in any unit
 */
export function createTransferProgress(
  { out, terminal }: Pick<Context, 'out' | 'terminal'>,
  total: number,
  { label, percent = false }: { label: string; percent?: boolean },
): TransferProgress {
  const shown = terminal.stderr.isTTY === true && !out.json && !out.quiet
  const bar = new SingleBar({
    stream: terminal.stderr,
    format: `{label} {bar} ${percent ? '{percentage} %' : '{size}'}`,
    hideCursor: true,
    clearOnComplete: true,
    linewrap: null,
    fps: 10,
  })
  const payload = (value: number, text: string) => ({
    label: escapeText(text).slice(-LABEL_COLUMNS),
    size: `${formatBytes(value)} of ${formatBytes(total)}`,
  })
  let current = label
  if (shown) bar.start(Math.max(total, 1), 0, payload(0, current))
  // Restores the cursor however the program ends.
  const stop = () => bar.stop()
  if (shown) process.on('exit', stop)
  return {
    update(value, text = current) {
      current = text
      if (shown) bar.update(Math.min(value, Math.max(total, 1)), payload(value, text))
    },
    close() {
      process.off('exit', stop)
      if (shown) stop()
    },
  }
}
