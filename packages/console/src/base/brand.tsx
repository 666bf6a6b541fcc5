import { Group } from '@mantine/core'

const SPOKES =
  'M16 1.75v28.5M1.75 16h28.5M22.36 9.64l3.72-3.72M9.64 9.64L5.92 5.92M9.64 22.36l-3.72 3.72M22.36 22.36l3.72 3.72'

/** Draws the mark of the product: the wheel of a ship. Pages outside the console draw the same, see `src/core/http/html-page.ts`. */
export const Mark = ({ size = 26 }: { size?: number }) => (
  <svg
    aria-hidden="true"
    viewBox="0 0 32 32"
    width={size}
    height={size}
    fill="none"
    stroke="var(--accent)"
    strokeWidth="2.5"
    strokeLinecap="round"
  >
    <circle cx="16" cy="16" r="9" />
    <circle cx="16" cy="16" r="3.5" fill="var(--accent)" stroke="none" />
    <path d={SPOKES} />
  </svg>
)

export const Brand = ({ name }: { name: string }) => (
  <Group component="span" display="inline-flex" gap="0.6rem" fz="1rem" fw={650} lts="-0.015em" wrap="nowrap">
    <Mark />
    {name}
  </Group>
)
