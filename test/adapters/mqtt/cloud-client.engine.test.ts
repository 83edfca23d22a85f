import { cloudClientContract } from '../../contracts/cloud-client.ts';
import { MosquittoRig } from '../../rig/mosquitto.ts';
import { describePeer } from '../../rig/peers.ts';

describePeer('mosquitto', 'the cloud client over Mosquitto', () => {
  cloudClientContract('with MQTT 5', () => new MosquittoRig(), 5);
});
