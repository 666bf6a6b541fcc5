import { ClientMessageId } from '@wheelhouse/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import type { Running } from '../commands.ts'

const MAX_WAIT_S = 600

/** `wheelhouse chat`: a word with the other side of a session. */
export function addChat(program: Command, running: Running): void {
  program
    .command('chat')
    .description('chat in a session: one message, or line by line at a terminal')
    .argument('<session>', 'id of the session')
    .argument('[text...]', 'the message; - reads it from standard input')
    .option('--message-id <id>', 'makes a repetition safe: the same id is sent once', messageId)
    .option('--wait <seconds>', 'how long to try until the platform has it', waitS, 30)
    .option('--history <messages>', 'how many earlier messages to show first', count, 20)
    .action(running(() => import('./chat.ts')))
}

function messageId(text: string): string {
  const id = ClientMessageId.safeParse(text)
  if (!id.success) throw new InvalidArgumentError('Give up to 100 printable ASCII characters.')
  return id.data
}

function waitS(text: string): number {
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds > 0 && seconds <= MAX_WAIT_S)) {
    throw new InvalidArgumentError(`Give a number of seconds up to ${MAX_WAIT_S}.`)
  }
  return seconds
}

function count(text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new InvalidArgumentError('Give a whole number up to 9999.')
  return Number(text)
}
