import { Center } from '@mantine/core'
import type { ReactNode } from 'react'
import { IconRobot } from '../base/icons.tsx'

/** A robot without a picture: operators see its camera in a session only. */
const look = {
  c: 'var(--text-3)',
  bg: 'linear-gradient(var(--surface-2), var(--surface-3) 62%, var(--surface-2) 62%)',
}

export const RobotDrawing = () => (
  <Center {...look} component="span" flex="none" w="4rem" h="2.25rem" bdrs="sm">
    <IconRobot size={22} stroke={1.5} />
  </Center>
)

/** Draws a robot as the largest part of a page, with what lies on it. */
export const RobotHero = ({ children }: { children: ReactNode }) => (
  <Center
    {...look}
    pos="relative"
    flex="1 0 22rem"
    bd="1px solid var(--line)"
    bdrs="lg"
    style={{ overflow: 'hidden' }}
  >
    <IconRobot size={112} stroke={1} />
    {children}
  </Center>
)
