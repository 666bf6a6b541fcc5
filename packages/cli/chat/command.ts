import { type Command, InvalidArgumentError } from 'commander'
import type { LazyAction } from '../lazy-action.ts'
import { integer } from '../option-parsers.ts'

const MAX_WAIT_S = 600

/** Declares `wheelhouse chat`. */
export function addChat(program: Command, lazyAction: LazyAction): void {
  program
    .command('chat')
    .description('chat in a session: one message, or line by line at a terminal')
    .argument('<session>', 'its id, or a prefix of the id')
    .argument('[text...]', 'the message; - reads it from standard input')
    .option('--message-id <id>', 'makes a repetition safe: a message with the same id appears once')
    .option('--wait <seconds>', 'longest time to wait for the confirmation', waitS, 30)
    .option('--history <messages>', 'number of earlier messages to show first', integer(0, 10_000), 20)
    .action(lazyAction(() => import('./chat.ts')))
}

function waitS(text: string): number {
  const seconds = Number(text)
  if (text.trim() === '' || !(seconds > 0 && seconds <= MAX_WAIT_S)) {
    throw new InvalidArgumentError(`Enter a number of seconds up to ${MAX_WAIT_S}.`)
  }
  return seconds
}
