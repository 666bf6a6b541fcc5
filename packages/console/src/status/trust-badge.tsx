import { ageText, type Freshness, type FreshnessSource } from '../freshness/freshness.ts'
import { type ReadAges, useFreshness } from '../freshness/use-freshness.ts'
import { robotStateTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { StateLabel } from './state-label.tsx'
import { type RobotFacts, type Trust, type TrustState, trustOf, trustShapes } from './trust.ts'

/**
 * Shows how far the page can be trusted, and what the robot does. Only it is rendered when the ages change.
 * @param props.readAges stable between renders
 */
export const TrustBadge = ({ readAges, ...badge }: BadgeProps & { readonly readAges: ReadAges }) => (
  <TrustBadgeView {...badge} freshness={useFreshness(readAges)} />
)

interface BadgeProps {
  readonly robot?: RobotFacts | undefined
  readonly isOnPicture?: boolean
  /** What belongs to a state that has no age, such as who stopped the robot. */
  readonly detail?: string | undefined
}

export function TrustBadgeView(props: BadgeProps & { readonly freshness: Freshness }) {
  const { freshness, robot, isOnPicture = false, detail } = props
  const trust = trustOf(freshness, robot)
  return (
    <span data-testid="freshness" data-state={trust.state} role="status">
      <StateLabel
        shape={trustShapes[trust.state]}
        isOnPicture={isOnPicture}
        detail={trust.state === 'LIVE' ? detail : (trustAge(trust) ?? detail)}
        title={trustHint(freshness, trust)}
      >
        {trustTexts[trust.state]}
      </StateLabel>
    </span>
  )
}

/** Returns the age of what is too old, such as `3.4 s`; undefined where a state has none. */
const trustAge = ({ ageMs, state }: Trust): string | undefined =>
  ageMs === undefined || state === 'LIVE' ? undefined : ageText(ageMs)

export const trustTexts: Record<TrustState, string> = {
  CONNECTING: t('live.freshness.connecting'),
  LIVE: t('live.freshness.live'),
  DELAYED: t('live.freshness.delayed'),
  BLIND: t('live.freshness.blind'),
  LOST: robotStateTexts.LOST,
  STOPPED: robotStateTexts.STOPPED,
  PAUSED: robotStateTexts.PAUSED,
}

/** The sources, as they stand before an age: `picture 560 ms`. */
export const sourceTexts: Record<FreshnessSource, string> = {
  picture: t('live.source.picture'),
  firstPicture: t('live.source.picture'),
  camera: t('live.source.camera'),
  telemetry: t('live.source.telemetry'),
  link: t('live.source.link'),
}

const delayedHints: Partial<Record<FreshnessSource, string>> = {
  telemetry: t('live.freshness.telemetryDelayed'),
  link: t('live.freshness.linkDelayed'),
}

const blindHints: Partial<Record<FreshnessSource, string>> = {
  telemetry: t('live.freshness.telemetryTooOld'),
  link: t('live.freshness.linkLost'),
}

function trustHint({ isPictureUnknown }: Freshness, { state, cause = 'picture' }: Trust): string | undefined {
  if (state === 'LIVE') return t('live.freshness.liveHint')
  if (state === 'CONNECTING') return t('live.freshness.connectingHint')
  if (state === 'DELAYED' && isPictureUnknown && cause === 'picture')
    return t('live.freshness.pictureUnknown')
  if (state === 'DELAYED') return delayedHints[cause] ?? t('live.freshness.pictureDelayed')
  if (state === 'BLIND') return blindHints[cause] ?? t('live.freshness.pictureTooOld')
  return undefined
}
