import * as english from '@wheelhouse/protocol'
import type { Congestion, CongestionCause } from '@wheelhouse/sdk'
import { percent } from './percent.ts'
import { t } from './texts.ts'

/** The reasons of stops that the console requests. The platform stores them in English; `reasonText` translates them. */
export const stopReasons = {
  cockpit: 'from the cockpit',
  admin: 'Stopped by an administrator',
} as const

// The texts of the protocol's codes in the viewer's language. The protocol has the English ones, so that the console, the CLI and
// the API share them. The part `codes` of the other catalogues translates them, by table and code. Without a translation a text is
// English.

/** The protocol's texts by the names of their tables in the catalogues. */
export const codeTables = {
  robotStatus: english.robotStatusTexts,
  robotState: english.robotStateTexts,
  sessionStatus: english.sessionStatusTexts,
  certificationStatus: english.certificationStatusTexts,
  invoiceStatus: english.invoiceStatusTexts,
  payoutStatus: english.payoutStatusTexts,
  deliveryStatus: english.deliveryStatusTexts,
  role: english.roleTexts,
  organizationRole: english.organizationRoleTexts,
  unavailable: english.unavailableTexts,
  webhookOff: english.webhookOffTexts,
  reason: english.reasonTexts,
  drop: english.dropTexts,
  close: english.closeTexts,
  limitReason: english.limitReasonTexts,
  stopReason: stopReasons,
  gap: english.gapTexts,
  auditProblem: english.auditProblemTexts,
  event: { ...english.sessionEventTexts, ...english.notificationTexts },
} as const

type Tables = typeof codeTables
type Texts<Name extends keyof Tables> = Readonly<Record<keyof Tables[Name], string>>

/** `t` for keys that contain codes: the English catalogue does not have them. */
const read = t as (key: string, values: Readonly<Record<string, string>>) => string

/** Returns a table in the viewer's language. A code whose text is empty has none in any language. */
const inLanguage = <Name extends keyof Tables>(name: Name): Texts<Name> =>
  Object.fromEntries(
    Object.entries<string>(codeTables[name]).map(([code, text]) => [
      code,
      text && read(`codes.${name}.${code}`, { defaultValue: text }),
    ]),
  ) as Texts<Name>

/** Labels of robot statuses. */
export const robotStatusTexts = inLanguage('robotStatus')
/** Labels of robot states, the same for all roles. */
export const robotStateTexts = inLanguage('robotState')
export const sessionStatusTexts = inLanguage('sessionStatus')
export const certificationStatusTexts = inLanguage('certificationStatus')
export const invoiceStatusTexts = inLanguage('invoiceStatus')
export const payoutStatusTexts = inLanguage('payoutStatus')
export const deliveryStatusTexts = inLanguage('deliveryStatus')
export const roleTexts = inLanguage('role')
/** Labels of the roles in an organization. */
export const organizationRoleTexts = inLanguage('organizationRole')
/** Why an operator is not available. */
export const unavailableTexts = inLanguage('unavailable')
/** Why a webhook is disabled. */
export const webhookOffTexts = inLanguage('webhookOff')
/** What is wrong with a row of the audit log, after its number. */
export const auditProblemTexts = inLanguage('auditProblem')
/** Why a control frame did not reach the robot. */
export const dropTexts = inLanguage('drop')

/** Who drives a robot besides a person; undefined for `manual`, which needs no word. */
export const modeTexts: Partial<Record<english.AutonomyMode, string>> = {
  autonomous: t('drive.goal.autonomous'),
  assisted: t('drive.goal.assisted'),
}

const reasonTexts = inLanguage('reason')
const closeTexts = inLanguage('close')
const limitReasonTexts = inLanguage('limitReason')
const stopReasonTexts = inLanguage('stopReason')
const gapTexts = inLanguage('gap')
const eventTexts = inLanguage('event')

/** Returns the text of a code of a table; for a code that this version does not know, the protocol's words for it. */
const known = (texts: Readonly<Record<string, string>>, code: unknown, words: () => string): string =>
  typeof code === 'string' && Object.hasOwn(texts, code) ? (texts[code] ?? '') : words()

/** Returns the text of a reason code, or the reason that a participant wrote: unchanged, unless the console wrote it. */
export function reasonText(reason: unknown): string {
  const ours = Object.entries(stopReasons).find(([, text]) => text === reason)
  if (ours) return stopReasonTexts[ours[0] as keyof typeof stopReasons]
  return known(reasonTexts, reason, () => english.reasonText(reason))
}

/** Returns why a recording lacks a period, for the end of a sentence. */
export const gapText = (reason: unknown): string =>
  known(gapTexts, reason, () => english.plainWords(String(reason)))

/** Returns why a command did not reach the robot. */
export const dropText = (reason: string): string => known(dropTexts, reason, () => english.plainWords(reason))

/** Returns the title of an event; for a type that this version does not know, its name as words. */
export const eventTitle = (type: string): string => known(eventTexts, type, () => english.eventTitle(type))

/** Returns the text of a close code; undefined for a code that the gateway does not use. */
export function closeText(code: number | undefined): string | undefined {
  const entry = Object.entries(english.closeCodes).find(([, { code: other }]) => other === code)
  return entry && closeTexts[entry[0] as english.CloseReason]
}

const congestionTexts: Record<CongestionCause, string> = {
  unsent_bytes: t('drive.congestion.unsent'),
  latency: t('drive.congestion.latency'),
  unanswered: t('drive.congestion.unanswered'),
}

/** Describes the load of a connection; undefined while it carries everything. */
export const congestionText = ({ cause, maxRateHz }: Congestion): string | undefined =>
  cause === null
    ? undefined
    : maxRateHz === null
      ? congestionTexts[cause]
      : t('drive.congestion.rate', { problem: congestionTexts[cause], rate: maxRateHz })

/** Describes limits as `Speed limited to 50%: commands take long`; undefined at full speed. */
export function speedLimitText(limits: english.SpeedLimits): string | undefined {
  const defaultValue = english.speedLimitText(limits)
  if (defaultValue === undefined) return undefined
  const { speed_scale, reason } = limits
  const speed = percent(speed_scale)
  if (reason === null) return read('codes.speedLimit.speed', { defaultValue, speed })
  const why = known(limitReasonTexts, reason, () => english.plainWords(reason))
  return read('codes.speedLimit.speedFor', { defaultValue, speed, reason: why })
}
