import styles from './brand.module.css'

/** Draws the mark of the product: the wheel of a ship. Pages outside the console draw the same, see `src/core/http/html-page.ts`. */
export const Mark = ({ size = 26 }: { size?: number }) => (
  <svg
    aria-hidden="true"
    viewBox="0 0 32 32"
    width={size}
    height={size}
    fill="none"
    stroke="var(--accent)"
    strokeWidth="2.6"
    strokeLinecap="round"
  >
    <circle cx="16" cy="16" r="8.5" />
    <circle cx="16" cy="16" r="2.4" fill="var(--accent)" stroke="none" />
    <path d="M16 2v10M16 20v10M2 16h10M20 16h10M6.1 6.1l7 7M18.9 18.9l7 7M25.9 6.1l-7 7M13.1 18.9l-7 7" />
  </svg>
)

/** Shows mark and name of the product. */
export const Brand = ({ name }: { name: string }) => (
  <span className={styles.brand}>
    <Mark />
    {name}
  </span>
)
