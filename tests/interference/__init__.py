"""What a viewer gets depends on nothing but what that viewer may read."""
