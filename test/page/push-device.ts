/** A push subscription of the browser at a service of the test. */

/**
 * Chromium subscribes at its vendor's push service, which a test cannot reach. This script replaces the subscription of
 * the page by one of the test's push service. All other parts are the browser's.
 */
export function subscribeAt(device: object): string {
  return `(() => {
    const device = ${JSON.stringify(device)};
    const made = () => {
      const key = localStorage.getItem('test subscription');
      return key === null ? null : {
        endpoint: device.endpoint,
        options: { applicationServerKey: Uint8Array.from(JSON.parse(key)).buffer },
        toJSON: () => device,
        unsubscribe: async () => { localStorage.removeItem('test subscription'); return true; },
      };
    };
    PushManager.prototype.getSubscription = async () => made();
    PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
      localStorage.setItem('test subscription', JSON.stringify([...applicationServerKey]));
      return made();
    };
  })()`;
}
