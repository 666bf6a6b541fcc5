import { StringDecoder } from 'node:string_decoder'
import type { Terminal } from '../terminal.ts'

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
