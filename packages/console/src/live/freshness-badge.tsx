import styles from './freshness.module.css'
import { ageText, DELAYED_MS, type Freshness } from './freshness.ts'
import { freshnessHint, freshnessStateTexts, PICTURE_AGE_UNKNOWN } from './freshness-texts.ts'

/** Shows whether the user can trust what the page shows: LIVE, or DELAYED or BLIND with the age of the oldest source. */
export function FreshnessBadge({ freshness }: { freshness: Freshness }) {
  const { state, ageMs, oldest, isPictureUnknown } = freshness
  const isUnknownOnly = isPictureUnknown && ageMs < DELAYED_MS
  return (
    <span
      className={styles.badge}
      data-state={state}
      title={isUnknownOnly ? PICTURE_AGE_UNKNOWN : freshnessHint(state, oldest)}
    >
      <span data-testid="freshness" data-state={state} role="status">
        {freshnessStateTexts[state]}
      </span>
      {ageMs >= DELAYED_MS && <span className={styles.age}>{ageText(ageMs)}</span>}
    </span>
  )
}
