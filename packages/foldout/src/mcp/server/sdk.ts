import type * as serverPackage from '@modelcontextprotocol/server'
import type * as stdioPackage from '@modelcontextprotocol/server/stdio'
import { checkPeer, importPeer } from '../../core/peer.ts'

/** The official SDK's server half, which is loaded when a client first needs it. */
export type ServerSdk = typeof serverPackage

export function loadServerSdk(): Promise<ServerSdk> {
  return importPeer('@modelcontextprotocol/server', () => import('@modelcontextprotocol/server'))
}

export function loadStdioSdk(): Promise<typeof stdioPackage> {
  return importPeer('@modelcontextprotocol/server', () => import('@modelcontextprotocol/server/stdio'))
}

/** Throws if the SDK is not installed, without loading it. */
export function checkServerSdk(): void {
  checkPeer('@modelcontextprotocol/server', import.meta.resolve)
}
