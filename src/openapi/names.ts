import type { Endpoint } from '../http/endpoint.ts'

/** What stands under the first word of a path. Routes under another word are Public, or a tag of their own. */
const groups: Readonly<Record<string, string>> = {
  auth: 'Your account: profile, onboarding, API keys',
  client: 'For robot owners: profile, robots, datasets, invoices, statistics',
  operator: 'For operators: profile, schedule, certifications, the robots they may take, statistics',
  sessions: 'Teleoperation sessions: their course, chat, log, extensions, ratings',
  notifications: 'What the platform has to tell you',
  payments: 'Billing and payouts, through the payment provider',
  admin: 'For administrators',
}
const PUBLIC = { name: 'Public', description: 'Needs no credential' }

export interface Tag {
  readonly name: string
  readonly description: string
}

/** The group of routes that an endpoint is shown in. */
export function tagOf({ path, access }: Endpoint): Tag {
  const word = path.split('/')[2] ?? ''
  const description = groups[word]
  if (description === undefined && access === 'public') return PUBLIC
  return { name: capitalised(word), description: description ?? `Everything under /api/${word}` }
}

/** The tags of some endpoints, each once, in the order in which people will look for them. */
export function tagsOf(endpoints: readonly Endpoint[]): Tag[] {
  const tags = new Map(endpoints.map((spec) => [tagOf(spec).name, tagOf(spec)]))
  const known = [...Object.keys(groups).map(capitalised), PUBLIC.name]
  const rank = ({ name }: Tag) => (known.indexOf(name) + known.length + 1) % (known.length + 1)
  return [...tags.values()].sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
}

/** A readable name, made of method and path alone so that it stays: `getSession`, `postSessionMessages`. */
export function operationIdOf({ method, path }: Endpoint): string {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'api')
  const words = segments.flatMap((segment, index) => {
    if (isParameter(segment)) return []
    return (isParameter(segments[index + 1] ?? '') ? singular(segment) : segment).split(/\W+/)
  })
  return method + words.map(capitalised).join('')
}

/** Who may call an endpoint, in words. */
export function callersOf({ access }: Endpoint): string {
  if (access === 'public') return 'Anybody may call this; no credential is looked at.'
  const who = access.role ? `This needs the ${access.role} role` : 'This needs an account'
  const how = access.sessionOnly ? 'a session token; API keys are refused' : 'a session token or an API key'
  return `${who}, and ${how}.`
}

export const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
const isParameter = (segment: string) => segment.startsWith('{')
const singular = (word: string) =>
  word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/([^s])s$/, '$1')
