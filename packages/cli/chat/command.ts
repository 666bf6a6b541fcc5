import { type Command, InvalidArgumentError } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer } from '../option-parsers.ts'

const MAX_WAIT_S = 600

/** `wheelhouse chat`: a word with the other side of a session. */
export function addChat(program: Command, lazyAction: LazyAction): void {
  program
    .command('chat')
    .description('chat in a session: one message, or line by line at a terminal')
    .argument('<session>', 'its id, or the beginning of that')
    .argument('[text...]', 'the message; - reads it from standard input')
    .option('--message-id <id>', 'makes a repetition safe: the same id is sent once')
    .option('--wait <seconds>', 'how long to try until the platform has it', waitS, 30)
    .option('--history <messages>', 'how many earlier messages to show first', integer(0, 10_000), 20)
    .action(lazyAction(() => import('./chat.ts')))
}

function waitS(text: string): number {
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds > 0 && seconds <= MAX_WAIT_S)) {
    throw new InvalidArgumentError(`Give a number of seconds up to ${MAX_WAIT_S}.`)
  }
  return seconds
}
