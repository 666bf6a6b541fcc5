/** A term that no sentence contains, with what to write instead. */
export interface BannedTerm {
  readonly pattern: RegExp
  readonly instead: string
}

const term = (pattern: string, instead: string): BannedTerm => ({
  pattern: new RegExp(`\\b(?:${pattern})\\b`, 'i'),
  instead,
})

/**
 * The private vocabulary that the project has left behind. Ordinary words stay out of this list even where their use
 * can be private ("a robot moves", "still running"): a reader of the text decides about those.
 */
export const bannedTerms: readonly BannedTerm[] = [
  term('tell|tells|told|telling', 'name the message: publishes, notifies, reports'),
  term('somebody|nobody|everybody|anybody', 'name the actor: a user, an operator, no client'),
  term('whoever|whomever', 'name the actor: the operator who …'),
  term('(?<!if you )wish|wishes|wished', 'request, requests'),
  term('desk|desks|seat|seats|undertaker|turnstile', 'use the term of docs/glossary.md'),
  term('gather|gathers|gathered', 'collects, batches'),
  term('deal out|deals out|dealt out|deals with|deal with', 'dispatches, handles'),
  term('besides|meanwhile|anew|for good', 'also, at the same time, again, permanently'),
  term('by the way|of its own|of their own|(?<!long )as it is|in hand', 'leave it out, or say what it is'),
  term('hands on|handed on|writes down|written down|wrote down', 'forwards, records'),
  term('lets in|let in|looks around|looks on', 'admits, discovers, observes'),
  term('what waits|who drives', 'pending …, the operator'),
  term('stands still|stand still|stood still|standing still', 'halts, is halted'),
  term('(?<!there )(?:is|are) none|asks nobody', 'say it positively: no … exists'),
  term('a fact|(?<!after )the fact|facts', 'event'),
  term('the act|acts of|an act', 'action, transition'),
  term('a move|moves of|the move', 'transition'),
  term('the scene|the stage|the cast|the crew', 'environment, scenario, fixtures'),
  term('good news|the news|news of', 'name the message'),
  term('stands? in|stands? at|it stands', 'is, exists'),
  term('alone', 'only, exclusively'),
]
