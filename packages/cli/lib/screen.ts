import { StringDecoder } from 'node:string_decoder'
import type { WriteStream } from 'node:tty'
import type { Context } from './context.ts'
import type { Terminal } from './terminal.ts'
import { type Piece, renderPieces, truncate, widthOf } from './text.ts'

/** Returns the part of a line that fits. */
function truncateLine(pieces: readonly Piece[], columns: number): Piece[] {
  const kept: Piece[] = []
  let left = columns
  for (const piece of pieces) {
    const width = widthOf(piece)
    if (width > left) {
      if (left > 0) kept.push(truncate(piece, left))
      return kept
    }
    kept.push(piece)
    left -= width
  }
  return kept
}

export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/** Returns the lines from the top. The screen cuts the lines that do not fit. */
type Draw = (size: ScreenSize) => readonly (readonly Piece[])[]

interface LiveScreen {
  /** Schedules a frame after a change of the content. */
  changed(): void
  /** Restores the terminal. */
  close(): void
}

const FRAME_MS = 100
/** Interval of frames without a change, because displayed ages grow. */
const IDLE_FRAME_MS = 1_000

const OPEN = '\u001b[?1049h\u001b[?25l'
const CLOSE = '\u001b[?25h\u001b[?1049l'
const HOME = '\u001b[H'
const CLEAR_LINE = '\u001b[K'
const CLEAR_BELOW = '\u001b[J'

/** Returns whether standard output is a terminal that can show a screen, and standard input its keyboard. */
export function canDraw({ out, terminal, env }: Context): boolean {
  return out.terminal && terminal.stdin.isTTY === true && env.TERM !== 'dumb' && !out.json
}

/** Opens a full-screen view that is redrawn after changes, at most ten times per second. */
export function openLiveScreen({ out, terminal }: Context, draw: Draw): LiveScreen {
  const stdout = terminal.stdout as typeof terminal.stdout & Partial<WriteStream>
  let timer: NodeJS.Timeout | undefined
  let lastMs = 0
  let isScheduled = false
  let closed = false

  const drawFrame = () => {
    isScheduled = false
    lastMs = performance.now()
    // Skips frames for a slow terminal.
    if (!stdout.writableNeedDrain) out.raw(renderFrame())
    scheduleFrame(IDLE_FRAME_MS)
  }
  const renderFrame = () => {
    const size = { columns: stdout.columns ?? 80, rows: stdout.rows ?? 24 }
    const lines = draw(size)
      .slice(0, size.rows)
      .map((pieces) => renderPieces(truncateLine(pieces, size.columns), out.coloured) + CLEAR_LINE)
    return HOME + lines.join('\r\n') + CLEAR_BELOW
  }
  const scheduleFrame = (delayMs: number) => {
    clearTimeout(timer)
    timer = setTimeout(drawFrame, delayMs)
  }
  const changed = () => {
    if (closed || isScheduled) return
    isScheduled = true
    scheduleFrame(Math.max(0, FRAME_MS - (performance.now() - lastMs)))
  }
  const close = () => {
    if (closed) return
    closed = true
    clearTimeout(timer)
    process.off('exit', close)
    stdout.off('resize', changed)
    out.raw(CLOSE)
  }

  // Restores the terminal however the program ends.
  process.on('exit', close)
  stdout.on('resize', changed)
  out.raw(OPEN)
  drawFrame()
  return { changed, close }
}

const CTRL_C = '\u0003'

/**
 * Reads typed text, key by key on a terminal, else in chunks.
 * @returns a function that restores the keyboard
 */
export function openKeys(
  { stdin }: Terminal,
  { typed, ended }: { typed: (text: string) => void; ended?: () => void },
): () => void {
  const decoder = new StringDecoder('utf8')
  const raw = stdin.isTTY === true
  const onData = (bytes: Buffer | string) => {
    const text = typeof bytes === 'string' ? bytes : decoder.write(bytes)
    // In raw mode the terminal sends Ctrl-C as a key.
    if (raw && text.includes(CTRL_C)) process.kill(process.pid, 'SIGINT')
    else if (text !== '') typed(text)
  }
  const onEnd = () => ended?.()
  if (raw) stdin.setRawMode(true)
  stdin.on('data', onData)
  stdin.on('end', onEnd)
  stdin.resume()
  const close = () => {
    process.off('exit', close)
    stdin.off('data', onData)
    stdin.off('end', onEnd)
    stdin.pause()
    if (raw) stdin.setRawMode(false)
  }
  // Restores the keyboard however the program ends.
  process.on('exit', close)
  return close
}
