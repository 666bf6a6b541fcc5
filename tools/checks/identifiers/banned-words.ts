/**
 * Words that no declared name and no file name contains, with what to write instead. From the vocabulary rules of the
 * project (docs/glossary.md). Inflected forms are listed: matching by word stems reports too much.
 */
const replacements: Readonly<Record<string, string>> = {
  'tell tells told telling': 'publish, notify or broadcast',
  'fact facts': 'event',
  'act acts acting': 'action, transition or ActionContext',
  // `moving` is fine: a robot moves.
  'move moves': 'transition',
  'stand stands standing stood still': 'halted, halt() or clearMotion()',
  'place places placed': 'param, location or directory',
  'somebody someone anybody nobody everybody whoever whichever': 'user, participant or client',
  'people person persons': 'participants or users',
  'wish wishes wished': 'request',
  desk: 'provider, panel or page',
  'seat seats': 'control lease',
  'stage stages scene scenes cast ground': 'scenario, environment or fixtures',
  'crew bells sights undertaker excuse inflict': 'actors, violations, reaper or injectFault',
  company: 'actors; `companyName` for the field of a profile',
  'gather gathers gathered gathering': 'batch, collect or accumulate',
  'deal deals dealt': 'dispatch or fan out',
  alone: 'exclusive or singleFlight',
  'letin letsin lookaround': 'admit or discover',
  'news anew besides meanwhile': 'a noun of the domain',
  'surroundings circumstances': 'RuntimeContext or the name of what it contains',
  'turnstile naps shielded': 'semaphore, wait or safeCallback',
  'watcher watchers outsider outsiders': 'observer',
  rights: 'permissions',
  'hear hears heard': 'received',
  deposed: 'leadership lost',
}

/** Pairs of words that are banned together only. */
const pairs: Readonly<Record<string, string>> = {
  'for good': 'permanent',
  'let in': 'admit',
  'lets in': 'admit',
  'let go': 'release',
  'looks on': 'observe',
  'look around': 'discover',
  'what waits': 'pending',
  'who drives': 'operator',
  'who is': 'resolve',
  'hands on': 'forward',
}

export const bannedWords: ReadonlyMap<string, string> = new Map(
  Object.entries(replacements).flatMap(([words, instead]) => words.split(' ').map((word) => [word, instead])),
)

export const bannedPairs: ReadonlyMap<string, string> = new Map(Object.entries(pairs))
