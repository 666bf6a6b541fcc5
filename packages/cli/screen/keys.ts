import { StringDecoder } from 'node:string_decoder'
import type { Terminal } from '../terminal.ts'

const CTRL_C = '\u0003'

/**
 * Hands over what is typed, key by key where there is a terminal, and else as it comes.
 * @returns gives the keyboard back
 */
export function openKeys(
  { stdin }: Terminal,
  { typed, ended }: { typed: (text: string) => void; ended?: () => void },
): () => void {
  const decoder = new StringDecoder('utf8')
  const raw = stdin.isTTY === true
  const onData = (bytes: Buffer | string) => {
    const text = typeof bytes === 'string' ? bytes : decoder.write(bytes)
    // In raw mode Ctrl-C comes as a key.
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
  // However the program ends, the keyboard must be usable behind it.
  process.on('exit', close)
  return close
}
