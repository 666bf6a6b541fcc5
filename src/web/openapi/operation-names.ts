import type { Endpoint } from '../../core/http/endpoint.ts'

/** The tag of the routes below the first word of a path. A public route below another word has the tag Public. */
const groups: Readonly<Record<string, string>> = {
  auth: 'Your account: profile, onboarding, avatar, API keys',
  client: 'For clients, who own robots: profile, robots, datasets, invoices, statistics',
  operator: 'For operators: profile, schedule, certifications, robots they may operate, statistics',
  sessions:
    'Teleoperation sessions: lifecycle, stops, tickets for the gateway, chat, log, extensions, ratings',
  events: 'The stream of numbered events of your account, your robots and your sessions',
  webhooks: 'Webhooks: which addresses get your events, their secrets and deliveries',
  notifications: 'Notifications: reading them, marking them as read',
  payments: 'Payment methods, payout accounts, payouts, and the events of the payment provider',
  admin: 'For administrators: certifications, plans, inboxes, the audit log, open sessions and gateways',
}
const PUBLIC = {
  name: 'Public',
  description: 'Routes that need no credential: health, statistics, prices, robot models, forms, avatars',
}

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
