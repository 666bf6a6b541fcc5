import { Box } from '@mantine/core'
import { Outlet } from '@tanstack/react-router'
import { SignedInOnly } from './signed-in-only.tsx'

/** Renders a page for signed-in users that fills the window. */
export const FullWindow = () => (
  <SignedInOnly>
    <Box component="main" p="md">
      <Outlet />
    </Box>
  </SignedInOnly>
)
